#include "service/releases.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

// It is compared with what programs say and stands in messages.
bool is_version(const std::string& text) {
    return !text.empty() && text.size() <= limits::report_word_bytes && printable(text, text.size()) == text;
}

Result<std::string> version_of(const Value& releases, const char* program) {
    const Value* entry = releases.find(program);
    const Value* version = entry == nullptr ? nullptr : entry->find("version");
    if (version == nullptr || version->text() == nullptr || !is_version(*version->text())) {
        return Error{Code::invalid, std::string("has no version of ") + program};
    }
    return *version->text();
}

}  // namespace

Result<WantedVersions> read_wanted_versions(const std::string& path) {
    const Result<std::string> text = read_file(path, limits::settings_bytes);
    if (!text) return text.error();
    const Result<Value> releases = json::parse(text.value());
    if (!releases) return releases.error().within(path);
    const Result<std::string> pyxis = version_of(releases.value(), "pyxis");
    const Result<std::string> enroot = version_of(releases.value(), "enroot");
    if (!pyxis) return pyxis.error().within(path);
    if (!enroot) return enroot.error().within(path);
    return WantedVersions{pyxis.value(), enroot.value()};
}

}  // namespace llmgw::service

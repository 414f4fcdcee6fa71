#include "core/releases_parse.hpp"

#include <algorithm>
#include <functional>
#include <string_view>

#include "core/shown.hpp"
#include "core/text.hpp"
#include "core/url.hpp"

namespace llmgw {
namespace {

constexpr auto architectures = {Architecture::amd64, Architecture::arm64};

enum class Presence { required, optional };

class Reader {
  public:
    ParsedReleases read(const Value& document);

  private:
    struct Member {
        std::string_view name;
        Presence presence;
        std::function<void(const std::string& key, const Value& value)> read;
    };

    // Each member of an object by its own function; complains of those that are unknown or missing.
    void members(const std::string& key, const Value& value, const std::vector<Member>& known);
    Member text(std::string_view name, std::string& into, Presence presence = Presence::required);
    Member object(std::string_view name, std::vector<Member> known);
    Member family(Family family);
    void packages(const std::string& key, const Value& value, const Platform& platform);
    void wrong_type(const std::string& key, const Value& value, std::string_view wanted);
    void error(const std::string& key, std::string message);

    ParsedReleases result_;
};

std::string within(const std::string& key, std::string_view member) {
    return key.empty() ? std::string(member) : key + "." + std::string(member);
}

ParsedReleases Reader::read(const Value& document) {
    auto& [enroot, pyxis, nvidia] = result_.releases;
    if (document.object() == nullptr) {
        result_.unread.insert("");
        error("", "the document is " + described(document) + ": it must be an object with enroot, pyxis, " +
                      "nvidia-container-library");
        return std::move(result_);
    }
    members(
        "", document,
        {object("enroot", {text("version", enroot.version), text("origin", result_.enroot_origin),
                           object("files", {family(Family::deb), family(Family::rpm)})}),
         object("pyxis", {text("version", pyxis.version),
                          object("source", {text("name", pyxis.source.name), text("url", pyxis.source.url),
                                            text("sha256", pyxis.source.sha256)})}),
         object(
             "nvidia-container-library",
             {text("package", nvidia.package), text("version", nvidia.version, Presence::optional),
              object("key", {text("name", nvidia.key.name), text("url", nvidia.key.url),
                             text("sha256", nvidia.key.sha256), text("fingerprint", nvidia.key_fingerprint)}),
              object("deb", {text("uri", nvidia.deb_uri), text("suite", nvidia.deb_suite)}),
              object("rpm", {text("baseurl", nvidia.rpm_baseurl)})})});
    // The origin may stand behind the files.
    for (auto& [platform, files] : enroot.packages) {
        for (PinnedFile& file : files) file.url = result_.enroot_origin + percent_encoded(file.name);
    }
    return std::move(result_);
}

void Reader::members(const std::string& key, const Value& value, const std::vector<Member>& known) {
    std::vector<std::string> names;
    for (const Member& member : known) names.emplace_back(member.name);
    if (value.object() == nullptr) return wrong_type(key, value, "an object with " + join(names, ", "));
    for (const Value::Member& given : *value.object()) {
        const std::string& name = given.first;
        const auto member = std::find_if(known.begin(), known.end(),
                                         [&](const Member& candidate) { return candidate.name == name; });
        if (member != known.end()) {
            member->read(within(key, name), given.second);
        } else {
            error(within(key, name.empty() ? R"("")" : name), "unknown key: known are " + join(names, ", "));
        }
    }
    for (const Member& member : known) {
        if (member.presence == Presence::optional || value.find(member.name) != nullptr) continue;
        result_.unread.insert(within(key, member.name));
        error(within(key, member.name), "missing");
    }
}

Reader::Member Reader::text(std::string_view name, std::string& into, Presence presence) {
    return {name, presence, [this, &into](const std::string& key, const Value& value) {
                if (const std::string* given = value.text()) {
                    into = *given;
                } else {
                    wrong_type(key, value, "text in quotes");
                }
            }};
}

Reader::Member Reader::object(std::string_view name, std::vector<Member> known) {
    return {name, Presence::required,
            [this, known = std::move(known)](const std::string& key, const Value& value) {
                members(key, value, known);
            }};
}

// A site may have machines of one kind only, so none of these must be there.
Reader::Member Reader::family(Family family) {
    return {text_of(family), Presence::optional, [this, family](const std::string& key, const Value& value) {
                std::vector<Member> known;
                for (const Architecture architecture : architectures) {
                    known.push_back(
                        {text_of(architecture), Presence::optional,
                         [this, family, architecture](const std::string& list_key, const Value& list) {
                             packages(list_key, list, {family, architecture});
                         }});
                }
                members(key, value, known);
            }};
}

void Reader::packages(const std::string& key, const Value& value, const Platform& platform) {
    const Value::Array* entries = value.array();
    if (entries == nullptr) return wrong_type(key, value, "a list of objects with name, sha256");
    std::vector<PinnedFile>& files = result_.releases.enroot.packages[platform];
    for (const Value& entry : *entries) {
        PinnedFile file;
        members(key + '[' + std::to_string(files.size()) + ']', entry,
                {text("name", file.name), text("sha256", file.sha256)});
        files.push_back(std::move(file));
    }
}

void Reader::wrong_type(const std::string& key, const Value& value, std::string_view wanted) {
    result_.unread.insert(key);
    error(key, described(value) + " is of the wrong type: use " + std::string(wanted));
}

void Reader::error(const std::string& key, std::string message) {
    result_.errors.push_back({printable(key), std::move(message), 0, 0});
}

}  // namespace

ParsedReleases parse_releases(const Value& document) {
    return Reader().read(document);
}

}  // namespace llmgw

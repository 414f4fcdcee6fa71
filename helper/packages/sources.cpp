#include "packages/sources.hpp"

#include <algorithm>
#include <filesystem>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "packages/in_root.hpp"
#include "packages/platform.hpp"
#include "posix/file.hpp"

namespace llmgw::packages {
namespace {

namespace fs = std::filesystem;

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t begin = text.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) break;
        text.remove_prefix(begin);
        const std::string_view word = text.substr(0, text.find_first_of(" \t\r"));
        words.push_back(word);
        text.remove_prefix(word.size());
    }
    return words;
}

bool says_no(std::string_view value) {
    constexpr std::string_view no[] = {"no", "false", "0", "off", "No", "False", "NO"};
    return std::find(std::begin(no), std::end(no), value) != std::end(no);
}

void replace_all(std::string& text, std::string_view what, std::string_view with) {
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size())) {
        text.replace(at, what.size(), with);
    }
}

// The files of a directory with an ending, in order.
std::vector<std::string> files_in(const std::string& directory, std::string_view ending) {
    std::vector<std::string> paths;
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
        if (entry.path().filename().string().ends_with(ending)) paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    return paths;
}

using Parse = std::vector<Source> (*)(std::string_view);

void add_file(std::vector<Source>& all, const std::string& path, Parse parse) {
    const Result<std::string> text = read_file(path, limits::package_source_bytes);
    if (!text) return;
    for (Source& source : parse(text.value())) {
        source.file = path;
        all.push_back(std::move(source));
    }
}

// A stanza of deb822: fields by name, with the lines that go on.
struct Stanza {
    std::string types;
    std::string uris;
    std::string suites;
    bool enabled = true;
};

void add_stanza(std::vector<Source>& all, const Stanza& stanza) {
    const std::vector<std::string_view> types = words_of(stanza.types);
    const bool binary = std::find(types.begin(), types.end(), "deb") != types.end();
    if (!stanza.enabled || !binary) return;
    for (const std::string_view uri : words_of(stanza.uris)) {
        for (const std::string_view suite : words_of(stanza.suites)) {
            all.push_back({std::string(uri), std::string(suite), {}});
        }
    }
}

std::string lower(std::string_view text) {
    std::string small(text);
    for (char& c : small) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    return small;
}

}  // namespace

// "deb [signed-by=/etc/apt/keyrings/x.asc arch=amd64] https://example.org/deb /"
std::vector<Source> parse_apt_list(std::string_view text) {
    std::vector<Source> all;
    for (std::string_view line : split(text, '\n')) {
        line = trimmed(line.substr(0, line.find('#')));
        if (!line.starts_with("deb ") && !line.starts_with("deb\t")) continue;
        line = trimmed(line.substr(4));
        if (line.starts_with('[')) line = trimmed(line.substr(std::min(line.find(']') + 1, line.size())));
        const std::vector<std::string_view> words = words_of(line);
        if (words.size() >= 2) all.push_back({std::string(words[0]), std::string(words[1]), {}});
    }
    return all;
}

std::vector<Source> parse_apt_sources(std::string_view text) {
    std::vector<Source> all;
    Stanza stanza;
    std::string* field = nullptr;
    for (const std::string_view line : split(text, '\n')) {
        if (trimmed(line).empty() || trimmed(line) == "\r") {
            add_stanza(all, stanza);
            stanza = {};
            field = nullptr;
        } else if (line.starts_with('#')) {
            continue;
        } else if (line.starts_with(' ') || line.starts_with('\t')) {
            if (field != nullptr) *field += " " + std::string(trimmed(line));
        } else {
            const std::size_t colon = std::min(line.find(':'), line.size());
            const std::string name = lower(line.substr(0, colon));
            const std::string_view value = trimmed(line.substr(std::min(colon + 1, line.size())));
            field = name == "types"    ? &stanza.types
                    : name == "uris"   ? &stanza.uris
                    : name == "suites" ? &stanza.suites
                                       : nullptr;
            if (field != nullptr) *field = value;
            if (name == "enabled") stanza.enabled = !says_no(value);
        }
    }
    add_stanza(all, stanza);
    return all;
}

std::vector<Source> parse_yum_repository(std::string_view text) {
    std::vector<Source> all;
    std::vector<Source> section;
    std::string id;
    bool enabled = true;
    const auto finish = [&] {
        if (enabled) all.insert(all.end(), section.begin(), section.end());
        section.clear();
        enabled = true;
    };
    for (std::string_view line : split(text, '\n')) {
        line = trimmed(line);
        if (line.starts_with('#') || line.starts_with(';')) continue;
        if (line.starts_with('[')) {
            finish();
            id = line.substr(1, line.find(']') - 1);
            continue;
        }
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) continue;
        const std::string_view key = trimmed(line.substr(0, equals));
        const std::string_view value = trimmed(line.substr(equals + 1));
        if (key == "enabled") enabled = !says_no(value);
        if (key != "baseurl") continue;
        for (const std::string_view uri : words_of(value)) section.push_back({std::string(uri), id, {}});
    }
    finish();
    return all;
}

std::vector<Source> read_sources(Family family, const std::string& root) {
    std::vector<Source> all;
    if (family == Family::deb) {
        add_file(all, in_root(root, "/etc/apt/sources.list"), parse_apt_list);
        const std::string parts = in_root(root, "/etc/apt/sources.list.d");
        for (const std::string& path : files_in(parts, ".list")) add_file(all, path, parse_apt_list);
        for (const std::string& path : files_in(parts, ".sources")) add_file(all, path, parse_apt_sources);
    } else {
        for (const std::string& path : files_in(in_root(root, "/etc/yum.repos.d"), ".repo")) {
            add_file(all, path, parse_yum_repository);
        }
    }
    return all;
}

std::string plain_uri(std::string_view uri, Architecture architecture) {
    std::string plain(uri);
    replace_all(plain, "$(ARCH)", dpkg_name(architecture));
    replace_all(plain, "${basearch}", rpm_name(architecture));
    replace_all(plain, "$basearch", rpm_name(architecture));
    while (plain.ends_with('/')) plain.pop_back();
    const std::size_t scheme = plain.find("://");
    const std::size_t path =
        scheme == std::string::npos ? 0 : std::min(plain.find('/', scheme + 3), plain.size());
    return lower(plain.substr(0, path)) + plain.substr(path);
}

}  // namespace llmgw::packages

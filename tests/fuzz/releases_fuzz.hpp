// Attack surface: releases.json. It is installed by a package or written by an admin, often by a script, and
// says what root downloads, from where, and into which files. Whatever the bytes are, reading them must end,
// must not lose memory, and must either refuse with printable one-line errors or give releases whose names
// are plain file names, whose digests are digests, and whose origins are verified or on this machine.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "core/url.hpp"
#include "fuzz/promise.hpp"
#include "json/releases_json.hpp"

namespace llmgw::fuzz {

inline void check_origin(const std::string& url) {
    const Result<Url> parsed = parse_url(url);
    must(parsed.ok() && (parsed.value().tls || is_loopback(parsed.value().host)));
}

inline void releases(std::string_view text) {
    const json::ReadReleases read = json::read_releases_text(text);
    for (const SettingError& error : read.errors) {
        must(one_printable_line(error.key) && one_printable_line(error.message) && !error.message.empty());
    }
    if (!read.ok()) return;
    std::set<std::string> names;
    const auto check_file = [&](const PinnedFile& file) {
        must(is_pinned_name(file.name) && file.name.find('/') == std::string::npos && is_sha256(file.sha256));
        must(names.insert(file.name).second);
        check_origin(file.url);
    };
    must(!read.releases.enroot.packages.empty());
    for (const auto& [platform, files] : read.releases.enroot.packages) {
        must(files.size() == 2 && enroot_packages(read.releases, platform).value() == files);
        for (const PinnedFile& file : files) check_file(file);
    }
    check_file(read.releases.pyxis.source);
    check_file(read.releases.nvidia.key);
    check_origin(read.releases.nvidia.deb_uri);
    check_origin(read.releases.nvidia.rpm_baseurl);
    // They become parts of commands, of file names and of lines in files.
    for (const std::string* word : {&read.releases.enroot.version, &read.releases.pyxis.version,
                                    &read.releases.nvidia.package, &read.releases.nvidia.version,
                                    &read.releases.nvidia.deb_suite, &read.releases.nvidia.key_fingerprint}) {
        must(word->find_first_of(" \t\n'\"\\$;[]") == std::string::npos && !word->starts_with('-'));
    }
}

}  // namespace llmgw::fuzz

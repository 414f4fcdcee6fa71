// What a machine gets, exactly: versions, origins and digests. The data is conf/releases.json, or the admin's
// own copy, which replaces it as a whole; service/releases.hpp reads it. The format is in docs/releases.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/readiness.hpp"
#include "core/result.hpp"

namespace llmgw {

enum class Family { deb, rpm };
enum class Architecture { amd64, arm64 };

struct Platform {
    Family family = Family::deb;
    Architecture architecture = Architecture::amd64;

    bool operator==(const Platform&) const = default;
    auto operator<=>(const Platform&) const = default;
};

std::string_view text_of(Family family);              // "deb", "rpm"
std::string_view text_of(Architecture architecture);  // "amd64", "arm64"

// A file that is used only if its digest is this.
struct PinnedFile {
    std::string name;    // "enroot+caps_4.2.1-1_amd64.deb": its name in the cache and on a mirror
    std::string url;     // at its origin, escaped as there
    std::string sha256;  // 64 lower-case hex digits

    bool operator==(const PinnedFile&) const = default;
};

struct Releases {
    struct Enroot {
        std::string version;  // "4.2.1"
        // Always both packages, enroot and enroot+caps, in that order.
        std::map<Platform, std::vector<PinnedFile>> packages;

        bool operator==(const Enroot&) const = default;
    };
    struct Pyxis {
        std::string version;  // "0.24.0"
        PinnedFile source;    // "pyxis-0.24.0.tar.gz"

        bool operator==(const Pyxis&) const = default;
    };
    struct NvidiaRepository {
        std::string package;  // "libnvidia-container-tools"
        std::string version;  // of the whole set; empty: what the repository offers when it is installed
        PinnedFile key;       // "libnvidia-container-gpgkey"
        std::string key_fingerprint;  // of the primary key, 40 upper-case hex digits
        std::string deb_uri;          // ".../stable/deb/$(ARCH)"
        std::string deb_suite;        // "/"
        std::string rpm_baseurl;      // ".../stable/rpm/$basearch"

        bool operator==(const NvidiaRepository&) const = default;
    };

    Enroot enroot;
    Pyxis pyxis;
    NvidiaRepository nvidia;

    bool operator==(const Releases&) const = default;
    [[nodiscard]] WantedVersions wanted() const { return {pyxis.version, enroot.version}; }
};

// A file's name in the cache and on a mirror: a letter or digit, then up to 199 of letters, digits, `. _ + ~
// -`; not ending with .part, .from or .rejected.
bool is_pinned_name(std::string_view text) noexcept;
// 64 lower-case hexadecimal digits.
bool is_sha256(std::string_view text) noexcept;

// The packages of a platform. Error (invalid): the releases have none for it; names both.
Result<std::vector<PinnedFile>> enroot_packages(const Releases& releases, const Platform& platform);

}  // namespace llmgw

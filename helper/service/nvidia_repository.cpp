#include "service/nvidia_repository.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "crypto/openpgp.hpp"
#include "packages/apt_commands.hpp"
#include "packages/in_root.hpp"
#include "packages/sources.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

namespace fs = std::filesystem;

constexpr const char* name = "llmgw-nvidia-container";

// A file that is replaced, and put back as it was unless that is kept.
class Replaced {
  public:
    explicit Replaced(std::string path) : path_(std::move(path)) {
        const Result<std::string> text = read_file(path_, limits::package_source_bytes);
        if (text) before_ = text.value();
    }
    ~Replaced() {
        if (!written_ || kept_) return;
        if (before_) {
            // Nothing more can be done about a failure here, and the error that led here is told.
            static_cast<void>(write_file_atomically(path_, *before_, 0644, Durability::durable).ok());
        } else {
            ::unlink(path_.c_str());
        }
    }
    Replaced(const Replaced&) = delete;
    Replaced& operator=(const Replaced&) = delete;

    Result<void> write(const std::string& text) {
        Result<void> written = write_file_atomically(path_, text, 0644, Durability::durable);
        written_ = written_ || written.ok();
        return written;
    }
    void keep() { kept_ = true; }

  private:
    const std::string path_;
    std::optional<std::string> before_;
    bool written_ = false;
    bool kept_ = false;
};

// The trial's directory, gone in any case.
class Workshop {
  public:
    explicit Workshop(std::string path) : path_(std::move(path)) { clear(); }
    ~Workshop() { clear(); }
    Workshop(const Workshop&) = delete;
    Workshop& operator=(const Workshop&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }

  private:
    void clear() {
        std::error_code ignored;
        fs::remove_all(path_, ignored);
    }
    const std::string path_;
};

std::string ending(Family family) {
    return family == Family::deb ? ".list" : ".repo";
}

// Which of the two is another one; a renewed subkey changes the digest alone.
Error changed_key(const Error& digest, const Releases::NvidiaRepository& release, const FetchOptions& fetch) {
    const Result<std::string> came =
        read_file(cached_path(fetch, release.key) + ".rejected", limits::openpgp_key_bytes);
    const Result<std::string> fingerprint =
        came ? crypto::primary_fingerprint(came.value()) : Result<std::string>(came.error());
    std::string more = "; what came is no whole public key";
    if (fingerprint && fingerprint.value() == release.key_fingerprint) {
        more =
            "; its primary key is still the pinned one, so it is NVIDIA's with another subkey, user or "
            "expiry date: "
            "check it and pin its new digest";
    } else if (fingerprint) {
        more = "; its primary key is " + fingerprint.value() + ", not the pinned " +
               shown(release.key_fingerprint) + ": it is another key";
    }
    return {digest.code, digest.message + more};
}

Result<std::string> fetch_key(const Releases::NvidiaRepository& release, const FetchOptions& fetch,
                              const std::stop_token& stop) {
    const Result<void> fetched = fetch_pinned({release.key}, fetch, {}, stop);
    if (!fetched) {
        return fetched.error().code == Code::invalid ? changed_key(fetched.error(), release, fetch)
                                                     : fetched.error();
    }
    const Result<std::string> key = read_file(cached_path(fetch, release.key), limits::openpgp_key_bytes);
    if (!key) return key.error();
    const Result<std::string> fingerprint = crypto::primary_fingerprint(key.value());
    if (!fingerprint) return fingerprint.error().within("NVIDIA's key has the pinned digest, and");
    if (!release.key_fingerprint.empty() && fingerprint.value() != release.key_fingerprint) {
        return Error{Code::invalid, "NVIDIA's key has the pinned digest, but its primary key is " +
                                        fingerprint.value() + " and not the pinned " +
                                        shown(release.key_fingerprint) +
                                        ": the releases contradict themselves"};
    }
    return key;
}

// The package manager reads the repository with the key, in a directory of its own.
Result<void> try_out(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                     const std::string& key, packages::Manager& manager, const packages::Progress& progress,
                     const std::stop_token& stop) {
    const Workshop workshop(place.work);
    const std::string key_path = place.work + "/key.asc";
    const std::string source = place.work + "/source/" + name + ending(place.platform.family);
    for (const std::string& directory : {place.work, directory_of(source)}) {
        if (const Result<void> made = make_directories(directory, 0755); !made) return made;
        ::chmod(directory.c_str(), 0755);  // whatever the umask says
    }
    if (const auto done = write_file_atomically(key_path, key, 0644, Durability::volatile_); !done)
        return done;
    const std::string text = nvidia_source_text(release, place.platform.family, key_path);
    if (const auto done = write_file_atomically(source, text, 0644, Durability::volatile_); !done)
        return done;
    return manager.read_source(source, place.work, progress, stop);
}

// What the package manager keeps of the repository beside its source.
void remove_index(const Releases::NvidiaRepository& release, const NvidiaPlace& place) {
    const bool deb = place.platform.family == Family::deb;
    const std::string prefix =
        deb ? packages::apt::list_prefix(packages::plain_uri(release.deb_uri, place.platform.architecture))
            : std::string(name) + "-";
    const std::vector<std::string> directories =
        deb ? std::vector<std::string>{"/var/lib/apt/lists"}
            : std::vector<std::string>{"/var/cache/dnf", "/var/cache/libdnf5"};
    for (const std::string& directory : directories) {
        std::error_code ignored;
        std::vector<fs::path> found;
        for (const auto& entry : fs::directory_iterator(packages::in_root(place.root, directory), ignored)) {
            const std::string file = entry.path().filename();
            if (file.starts_with(prefix) || (!deb && file.starts_with(std::string(name) + "."))) {
                found.push_back(entry.path());
            }
        }
        for (const fs::path& path : found) fs::remove_all(path, ignored);
    }
}

// Whether somebody's own source names our key.
bool is_needed_by_others(const NvidiaPlace& place) {
    for (const packages::Source& source : packages::read_sources(place.platform.family, place.root)) {
        const Result<std::string> text = read_file(source.file, limits::package_source_bytes);
        if (text && text.value().find(nvidia_key_path(place)) != std::string::npos) return true;
    }
    return false;
}

}  // namespace

std::string nvidia_key_path(const NvidiaPlace& place) {
    const bool deb = place.platform.family == Family::deb;
    return packages::in_root(place.root,
                             (deb ? "/etc/apt/keyrings/" : "/etc/pki/rpm-gpg/") + std::string(name) + ".asc");
}

std::string nvidia_source_path(const NvidiaPlace& place) {
    const bool deb = place.platform.family == Family::deb;
    return packages::in_root(place.root, (deb ? "/etc/apt/sources.list.d/" : "/etc/yum.repos.d/") +
                                             std::string(name) + ending(place.platform.family));
}

std::string nvidia_source_text(const Releases::NvidiaRepository& release, Family family,
                               const std::string& key) {
    const std::string first =
        "# Written by llmgw-slurm: NVIDIA's container library, for GPUs in containers. Goes with "
        "llmgw-slurm.\n";
    if (family == Family::deb) {
        return first + "deb [signed-by=" + key + "] " + release.deb_uri + " " + release.deb_suite + "\n";
    }
    // The key is the pinned file and not its URL, which dnf would fetch again without looking at any digest.
    return first + "[" + name + "]\nname=NVIDIA's container library\nbaseurl=" + release.rpm_baseurl +
           "\nenabled=1\nrepo_gpgcheck=1\ngpgcheck=0\ngpgkey=file://" + key + "\n";
}

Result<void> add_nvidia_repository(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                   packages::Manager& manager, const packages::Progress& progress,
                                   const std::stop_token& stop) {
    const Result<NvidiaFacts> facts = gather_nvidia(release, place, manager);
    if (!facts) return facts.error();
    if (!facts.value().site_source.empty()) return {};
    const Result<std::string> key = fetch_key(release, place.fetch, stop);
    if (!key) return key.error();
    const Result<void> tried = try_out(release, place, key.value(), manager, progress, stop);
    if (!tried) {
        return tried.error().within("NVIDIA's repository was tried and is not used");
    }
    const std::string key_path = nvidia_key_path(place);
    const std::string source_path = nvidia_source_path(place);
    for (const std::string& path : {key_path, source_path}) {
        if (const Result<void> made = make_directories(directory_of(path), 0755); !made) return made;
    }
    // In this order, and back in the other: a source never stands there without its key.
    Replaced key_file(key_path);
    Replaced source_file(source_path);
    if (const Result<void> written = key_file.write(key.value()); !written) return written;
    const std::string text = nvidia_source_text(release, place.platform.family, key_path);
    if (const Result<void> written = source_file.write(text); !written) return written;
    const Result<void> read = manager.read_source(source_path, "", progress, stop);
    if (!read) {
        remove_index(release, place);
        return read.error().within("NVIDIA's repository was added and taken back");
    }
    source_file.keep();
    key_file.keep();
    return {};
}

Result<void> remove_nvidia_repository(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                      const std::vector<std::string>& installed, packages::Manager& manager,
                                      const packages::Progress& progress, const std::stop_token& stop) {
    if (!installed.empty()) {
        if (const Result<void> free = manager.hold(installed, false, stop); !free) return free;
        if (const Result<void> gone = manager.remove(installed, progress, stop); !gone) return gone;
    }
    const bool ours = fs::exists(nvidia_source_path(place));
    if (const Result<void> gone = remove_file(nvidia_source_path(place)); !gone) return gone;
    if (ours) remove_index(release, place);
    if (is_needed_by_others(place)) return {};
    return remove_file(nvidia_key_path(place));
}

}  // namespace llmgw::service

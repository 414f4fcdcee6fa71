// NVIDIA's package repository, on machines with a GPU of NVIDIA's only: looked for, added, taken away; and
// its container library, all packages of it at one version.
//
// The key is used only if its digest and its primary fingerprint are the pinned ones. A source of the site's
// own for the same repository is respected: then there is nothing to add. Ours is tried first, with the
// package manager itself and apart from what the machine has, and taken back when reading it fails.
#pragma once

#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "core/releases.hpp"
#include "core/result.hpp"
#include "packages/manager.hpp"
#include "service/fetcher.hpp"

namespace llmgw::service {

struct NvidiaPlace {
    Platform platform;
    std::string root = "/";  // of the installation; devices are looked for below it, too
    std::string work =
        "/run/llmgw-slurm/nvidia";  // made for the trial and removed; apt's own user must reach it
    FetchOptions fetch;
};

// Where our key and source are.
std::string nvidia_key_path(const NvidiaPlace& place);
std::string nvidia_source_path(const NvidiaPlace& place);
// The source's text; `key`: where it says that the key is.
std::string nvidia_source_text(const Releases::NvidiaRepository& release, Family family,
                               const std::string& key);

struct NvidiaFacts {
    std::string
        device;  // "/dev/nvidia0", "PCI device 0000:17:00.0"; empty: this machine has no GPU of NVIDIA's
    std::string site_source;  // a file of the site's that has the same repository
    bool key = false;         // ours are in place, as pinned and readable for everyone
    bool source = false;
    std::map<std::string, std::string> versions;  // of the library's packages that are installed
    std::vector<std::string> held;                // of these

    bool operator==(const NvidiaFacts&) const = default;
};

// Reads files and asks the package manager's database; no network, and nothing is written.
Result<NvidiaFacts> gather_nvidia(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                  packages::Manager& manager);
// A GPU by itself: device nodes, or PCI devices where no driver made any.
std::string nvidia_device(const std::string& root);

// What is wrong, in a sentence; none: nothing. Without a GPU nothing is wanted.
std::optional<std::string> nvidia_repository_lacks(const NvidiaFacts& facts);
std::optional<std::string> nvidia_packages_lack(const NvidiaFacts& facts,
                                                const Releases::NvidiaRepository& release);

// Does nothing where the site has a source of its own. On an error key and source are as before. Errors:
// those of fetch_pinned, invalid (which of digest and fingerprint is another one; the package manager refuses
// the repository), unavailable (it can't be reached).
Result<void> add_nvidia_repository(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                   packages::Manager& manager, const packages::Progress& progress,
                                   const std::stop_token& stop);

// Lets go of `installed`, the packages that we installed for it, removes them, and then source, index and
// key. The key stays while another source names it.
Result<void> remove_nvidia_repository(const Releases::NvidiaRepository& release, const NvidiaPlace& place,
                                      const std::vector<std::string>& installed, packages::Manager& manager,
                                      const packages::Progress& progress, const std::stop_token& stop);

// "name=version" for the pinned package and everything it needs that comes from the same source, all at one
// version: the pinned one; without a pin the version that is installed, if all of them have it, else the
// newest that the repository has of all. They are to be held afterwards. Error (missing): the repository
// doesn't have that version.
Result<packages::Wanted> nvidia_packages(const Releases::NvidiaRepository& release,
                                         packages::Manager& manager, const std::stop_token& stop);

// Installs these and holds them. `ours`: those of them that an earlier call held; they may change. A hold of
// the site's is not touched (conflict). On an error what was held is held again.
Result<void> install_nvidia_packages(const packages::Wanted& wanted, const std::vector<std::string>& ours,
                                     packages::Manager& manager, const packages::Progress& progress,
                                     const std::stop_token& stop);

}  // namespace llmgw::service

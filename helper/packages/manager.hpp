// Port to the machine's package manager; deb (packages/deb.hpp) and rpm (packages/rpm.hpp) behind it. Never
// asks a question, waits for locks and says who holds them, and starts no second transaction beside one that
// runs.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "core/releases.hpp"
#include "core/result.hpp"
#include "core/task_runner.hpp"

namespace llmgw::packages {

struct Installed {
    std::map<std::string, std::string> versions;  // name -> version ("4.2.1-1"), fully installed ones only
    std::vector<std::string>
        broken;  // half-installed, half-configured, unpacked: name and state, "enroot (half-configured)"

    bool operator==(const Installed&) const = default;
};

// One transaction. Either may be empty.
struct Wanted {
    std::vector<std::string> files;  // paths of package files, installed together
    std::vector<std::string> names;  // from the machine's repositories; "name=version" pins one

    bool operator==(const Wanted&) const = default;
};

// What a transaction would do beside what was asked, by the package manager's own simulation.
struct Preview {
    std::vector<std::string> added;    // names that are not installed now
    std::vector<std::string> changed;  // installed in another version
    std::vector<std::string> removed;

    bool operator==(const Preview&) const = default;
};

// What the repositories offer under a name, as far as the machine's index knows.
struct Offer {
    std::string version;
    std::string source;              // the source package it was built from: a set of packages has one
    std::vector<std::string> needs;  // names it depends on; of alternatives the first

    bool operator==(const Offer&) const = default;
};

using Progress =
    std::function<void(const std::string& sentence)>;  // "waiting for apt-get (PID 4711), which holds ..."

class Manager {
  public:
    virtual ~Manager() = default;
    [[nodiscard]] virtual Family family() const = 0;
    virtual Result<Installed> installed() = 0;
    // Changes nothing of what is installed; may bring the index of the repositories up to date first.
    virtual Result<Preview> preview(const Wanted& wanted, const std::stop_token& stop) = 0;
    // Newest first; none: no error. As preview(), without a fresh index.
    virtual Result<std::vector<Offer>> offers(const std::string& name, const std::stop_token& stop) = 0;
    // Brings the index of all repositories up to date. Error (unavailable): at least one of them could not
    // be.
    virtual Result<void> refresh(const Progress& progress, const std::stop_token& stop) = 0;
    // Reads the repository of one source file by itself: its key, its signature and its index. With `apart`
    // whatever comes goes below that directory, nothing of the machine's is touched, and the file must be
    // alone in its own directory; with an empty `apart` it goes into the machine's index, beside those of the
    // other sources. Errors: unavailable, invalid (also: all sources together make no sense any more).
    virtual Result<void> read_source(const std::string& source_file, const std::string& apart,
                                     const Progress& progress, const std::stop_token& stop) = 0;
    // Finishes what an interrupted run left half done (dpkg --configure -a, apt-get -f install).
    virtual Result<void> repair(const Progress& progress, const std::stop_token& stop) = 0;
    // All of it or nothing, as far as the package manager can: what an interrupted run left is finished
    // first, damaged files, packages that would have to go, older versions and held packages are refused
    // before anything is touched (invalid, conflict), and afterwards exactly the files' versions are there.
    virtual Result<void> install(const Wanted& wanted, const Progress& progress,
                                 const std::stop_token& stop) = 0;
    // With their configuration; those that are not there are no error. Never takes others with it (conflict).
    virtual Result<void> remove(const std::vector<std::string>& names, const Progress& progress,
                                const std::stop_token& stop) = 0;
    // Kept at their version by upgrades, or no more. Those that are not installed: missing; letting go of
    // them is no error.
    virtual Result<void> hold(const std::vector<std::string>& names, bool held,
                              const std::stop_token& stop) = 0;
    virtual Result<std::vector<std::string>> held() = 0;
};

struct ManagerOptions {
    std::string root = "/";                   // another installation root, for tests and images
    std::chrono::seconds lock_patience{900};  // how long a lock is waited for
};

// This machine's, by /etc/os-release (ID, ID_LIKE) and the programs that are there, and its architecture.
// Error (invalid): neither deb nor rpm, or another architecture; names what was found.
Result<Platform> platform_of_this_machine();
Result<std::unique_ptr<Manager>> manager_for(Family family, TaskRunner& runner, ManagerOptions options = {});

}  // namespace llmgw::packages

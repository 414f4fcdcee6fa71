// NVIDIA's repository and packages, on machines with a GPU of NVIDIA's alone.
#include <algorithm>

#include "service/nvidia_repository.hpp"
#include "service/setup.hpp"

namespace llmgw::service {
namespace {

// "name" of "name=version".
std::vector<std::string> names_in(const packages::Wanted& wanted) {
    std::vector<std::string> names;
    for (const std::string& pinned : wanted.names) names.push_back(pinned.substr(0, pinned.find('=')));
    return names;
}

// What an admin holds stays held when we go.
std::vector<std::string> not_held(std::vector<std::string> names, const std::vector<std::string>& held) {
    std::erase_if(names, [&](const std::string& name) {
        return std::find(held.begin(), held.end(), name) != held.end();
    });
    return names;
}

NvidiaPlace place_of(const SetupOptions& options, const Platform& platform) {
    NvidiaPlace place;
    place.platform = platform;
    place.fetch = options.fetch;
    place.work = options.run_dir + "/nvidia";
    return place;
}

Result<bool> is_complete(const std::optional<std::string>& lack) {
    return lack ? Result<bool>(Error{Code::missing, *lack}) : Result<bool>(true);
}

}  // namespace

void Setup::gather_nvidia(SetupFacts& facts) {
    facts.gpu = !nvidia_device("/").empty();
    if (!facts.gpu) return;
    const Result<packages::Manager*> packages = manager();
    const Result<NvidiaFacts> found =
        packages && facts.platform
            ? service::gather_nvidia(releases_.nvidia, place_of(options_, facts.platform.value()),
                                     *packages.value())
            : Result<NvidiaFacts>(packages ? facts.platform.error() : packages.error());
    if (!found) {
        facts.nvidia_repository = facts.nvidia_packages = found.error();
        return;
    }
    facts.nvidia_repository = is_complete(nvidia_repository_lacks(found.value()));
    facts.nvidia_packages = is_complete(nvidia_packages_lack(found.value(), releases_.nvidia));
}

Result<void> Setup::add_nvidia(const packages::Progress& note, const std::stop_token& stop) {
    const Result<packages::Manager*> packages = manager();
    const Result<Platform> machine = platform();
    if (!packages) return packages.error();
    if (!machine) return machine.error();
    const Result<void> kept = ledger_.change([](Ledger& ledger) { ledger.nvidia_repository = true; });
    if (!kept) return kept.error();
    return add_nvidia_repository(releases_.nvidia, place_of(options_, machine.value()), *packages.value(),
                                 note, stop);
}

Result<void> Setup::install_nvidia(const packages::Progress& note, const std::stop_token& stop) {
    const Result<packages::Manager*> packages = manager();
    if (!packages) return packages.error();
    const Result<packages::Wanted> wanted = nvidia_packages(releases_.nvidia, *packages.value(), stop);
    if (!wanted) return wanted.error();
    const Result<packages::Preview> preview = packages.value()->preview(wanted.value(), stop);
    if (!preview) return preview.error();
    const Result<Ledger> before = ledger_.read();
    if (!before) return before.error();
    const Result<std::vector<std::string>> held = packages.value()->held();
    if (!held) return held.error();
    const Result<void> kept = ledger_.change([&](Ledger& ledger) {
        ledger.add_packages(preview.value().added);
        ledger.add_held(not_held(names_in(wanted.value()), held.value()));
    });
    if (!kept) return kept.error();
    return install_nvidia_packages(wanted.value(), before.value().held, *packages.value(), note, stop);
}

Result<void> Setup::remove_nvidia(const packages::Progress& note, const std::stop_token& stop) {
    const Result<packages::Manager*> packages = manager();
    const Result<Platform> machine = platform();
    if (!packages) return packages.error();
    if (!machine) return machine.error();
    // Its packages went with the others.
    return remove_nvidia_repository(releases_.nvidia, place_of(options_, machine.value()), {},
                                    *packages.value(), note, stop);
}

}  // namespace llmgw::service

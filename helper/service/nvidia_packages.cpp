// All packages of NVIDIA's container library at one version: apt and dnf by themselves take the newest of
// each, which is how they drift apart.
#include <algorithm>
#include <set>
#include <utility>

#include "core/text.hpp"
#include "service/nvidia_repository.hpp"

namespace llmgw::service {
namespace {

using packages::Offer;

const Offer* find_version(const std::vector<Offer>& offers, const std::string& version) {
    const auto found = std::find_if(offers.begin(), offers.end(),
                                    [&](const Offer& offer) { return offer.version == version; });
    return found == offers.end() ? nullptr : &*found;
}

// The package and what it needs of the same source. None: one of them is not offered at this version.
Result<std::optional<std::vector<std::string>>> set_at(const std::string& package, const Offer& first,
                                                       packages::Manager& manager,
                                                       const std::stop_token& stop) {
    std::vector<std::string> all{package};
    std::set<std::string> seen{package};
    std::vector<std::string> open = first.needs;
    while (!open.empty()) {
        const std::string name = open.back();
        open.pop_back();
        if (!seen.insert(name).second) continue;
        const Result<std::vector<Offer>> offers = manager.offers(name, stop);
        if (!offers) return offers.error();
        const bool of_it = std::any_of(offers.value().begin(), offers.value().end(),
                                       [&](const Offer& offer) { return offer.source == first.source; });
        if (!of_it) continue;
        const Offer* offer = find_version(offers.value(), first.version);
        if (offer == nullptr) return std::optional<std::vector<std::string>>();
        all.push_back(name);
        open.insert(open.end(), offer->needs.begin(), offer->needs.end());
    }
    std::sort(all.begin(), all.end());
    return std::optional(std::move(all));
}

packages::Wanted pinned(const std::vector<std::string>& names, const std::string& version) {
    packages::Wanted wanted;
    for (const std::string& name : names) wanted.names.push_back(name + "=" + version);
    return wanted;
}

std::vector<std::string> names_of(const packages::Wanted& wanted) {
    std::vector<std::string> names;
    for (const std::string& name : wanted.names) names.push_back(name.substr(0, name.find('=')));
    return names;
}

bool all_installed(const packages::Wanted& wanted, const packages::Installed& installed) {
    return std::all_of(wanted.names.begin(), wanted.names.end(), [&](const std::string& pin) {
        const std::size_t equals = pin.find('=');
        const auto found = installed.versions.find(pin.substr(0, equals));
        return found != installed.versions.end() && found->second == pin.substr(equals + 1);
    });
}

std::vector<std::string> versions_of(const std::vector<Offer>& offers) {
    std::vector<std::string> versions;
    for (const Offer& offer : offers) versions.push_back(offer.version);
    return versions;
}

Result<std::vector<Offer>> fresh_offers(const std::string& package, const std::string& version,
                                        packages::Manager& manager, const std::stop_token& stop) {
    Result<std::vector<Offer>> offers = manager.offers(package, stop);
    if (!offers) return offers;
    const bool known =
        version.empty() ? !offers.value().empty() : find_version(offers.value(), version) != nullptr;
    if (known) return offers;
    // The index may be older than the pin.
    if (const Result<void> fresh = manager.refresh({}, stop); !fresh && stop.stop_requested())
        return fresh.error();
    return manager.offers(package, stop);
}

}  // namespace

Result<packages::Wanted> nvidia_packages(const Releases::NvidiaRepository& release,
                                         packages::Manager& manager, const std::stop_token& stop) {
    const Result<std::vector<Offer>> offers = fresh_offers(release.package, release.version, manager, stop);
    if (!offers) return offers.error();
    const Result<packages::Installed> installed = manager.installed();
    if (!installed) return installed.error();
    std::vector<const Offer*> candidates;
    if (!release.version.empty()) {
        candidates.push_back(find_version(offers.value(), release.version));
        if (candidates[0] == nullptr) candidates.clear();
    } else {
        for (const Offer& offer : offers.value()) candidates.push_back(&offer);
        // What is there stays, if it is one set.
        const auto there = installed.value().versions.find(release.package);
        const Offer* same =
            there == installed.value().versions.end() ? nullptr : find_version(offers.value(), there->second);
        if (same != nullptr) {
            const auto set = set_at(release.package, *same, manager, stop);
            if (!set) return set.error();
            if (set.value() && all_installed(pinned(*set.value(), same->version), installed.value())) {
                return pinned(*set.value(), same->version);
            }
        }
    }
    for (const Offer* candidate : candidates) {
        const auto set = set_at(release.package, *candidate, manager, stop);
        if (!set) return set.error();
        if (set.value()) return pinned(*set.value(), candidate->version);
    }
    const std::string wanted = release.package + (release.version.empty() ? "" : " " + release.version);
    if (offers.value().empty()) {
        return Error{Code::missing, "no package source of this machine has " + wanted};
    }
    return Error{Code::missing, "the package sources don't have all of " + wanted +
                                    " at one version; they have it at " +
                                    join(versions_of(offers.value()), ", ")};
}

Result<void> install_nvidia_packages(const packages::Wanted& wanted, const std::vector<std::string>& ours,
                                     packages::Manager& manager, const packages::Progress& progress,
                                     const std::stop_token& stop) {
    const Result<std::vector<std::string>> held = manager.held();
    if (!held) return held.error();
    std::vector<std::string> released;
    for (const std::string& name : names_of(wanted)) {
        const bool is_held = std::find(held.value().begin(), held.value().end(), name) != held.value().end();
        const bool is_ours = std::find(ours.begin(), ours.end(), name) != ours.end();
        if (is_held && is_ours) released.push_back(name);
    }
    const Result<packages::Installed> before = manager.installed();
    if (!before) return before.error();
    if (!all_installed(wanted, before.value())) {
        if (!released.empty()) {
            if (const Result<void> free = manager.hold(released, false, stop); !free) return free;
        }
        const Result<void> done = manager.install(wanted, progress, stop);
        if (!done) {
            if (released.empty()) return done;
            const Result<void> again = manager.hold(released, true, {});
            return again ? done
                         : Result<void>(Error{done.error().code,
                                              done.error().message + "; and " + again.error().message});
        }
    }
    return manager.hold(names_of(wanted), true, stop);
}

}  // namespace llmgw::service

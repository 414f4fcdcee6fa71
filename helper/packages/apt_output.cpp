#include "packages/apt_output.hpp"

#include <algorithm>

#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw::packages::apt {
namespace {

void add_once(std::vector<std::string>& names, std::string_view name) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
}

// "libc6 (>= 2.34) | libc6.1:any, libfoo" -> "libc6", "libfoo"
void add_needs(std::vector<std::string>& needs, std::string_view relations) {
    for (const std::string_view relation : split(relations, ',')) {
        const std::string_view first = trimmed(relation);
        const std::string_view name = first.substr(0, first.find_first_of(" (|:["));
        if (!name.empty()) add_once(needs, name);
    }
}

std::string_view value_after(std::string_view line, std::string_view key) {
    return line.starts_with(key) ? trimmed(line.substr(key.size())) : std::string_view();
}

}  // namespace

std::vector<State> parse_states(const std::string& output, std::string_view native) {
    std::vector<State> states;
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(line, '\t');
        if (words.size() != 6 || words[0].empty()) continue;
        State state{std::string(words[0]), std::string(words[2]), std::string(words[3]),
                    std::string(words[4]), words[5] != "ok"};
        if (!words[1].empty() && words[1] != native && words[1] != "all")
            state.name += ":" + std::string(words[1]);
        states.push_back(std::move(state));
    }
    return states;
}

Installed installed_of(const std::vector<State>& states, bool interrupted) {
    Installed installed;
    if (interrupted) installed.broken.emplace_back("dpkg (interrupted)");
    for (const State& state : states) {
        const bool whole = state.status == "installed" || state.status == "triggers-pending";
        if (whole && !state.damaged) {
            installed.versions[state.name] = state.version;
        } else if (state.damaged || (state.there() && state.status != "config-files")) {
            installed.broken.push_back(state.name + " (" + state.status + ")");
        }
    }
    return installed;
}

std::vector<std::string> held_of(const std::vector<State>& states) {
    std::vector<std::string> names;
    for (const State& state : states) {
        if (state.held()) names.push_back(state.name);
    }
    return names;
}

const State* find_state(const std::vector<State>& states, const std::string& name) {
    const auto found =
        std::find_if(states.begin(), states.end(), [&](const State& s) { return s.name == name; });
    return found == states.end() ? nullptr : &*found;
}

// "Inst enroot [4.1] (4.2.1-1 local-deb [amd64])", "Remv old [1]", "Purg old [1]"; "Conf ..." says nothing
// new.
Preview parse_simulation(const std::string& output) {
    Preview preview;
    for (const std::string_view line : split(output, '\n')) {
        const std::vector<std::string_view> words = split(line, ' ');
        if (words.size() < 3) continue;
        if (words[0] == "Inst") {
            add_once(words[2].starts_with('[') ? preview.changed : preview.added, words[1]);
        } else if (words[0] == "Remv" || words[0] == "Purg") {
            add_once(preview.removed, words[1]);
        }
    }
    return preview;
}

std::optional<PackageFile> parse_fields(const std::string& output) {
    PackageFile file;
    for (const std::string_view line : split(output, '\n')) {
        if (line.starts_with("Package:")) file.name = value_after(line, "Package:");
        if (line.starts_with("Version:")) file.version = value_after(line, "Version:");
        if (line.starts_with("Architecture:")) file.architecture = value_after(line, "Architecture:");
    }
    if (file.name.empty() || file.version.empty() || file.architecture.empty()) return std::nullopt;
    return file;
}

std::vector<Offer> parse_offers(const std::string& output) {
    std::vector<Offer> offers;
    Offer offer;
    std::string name;
    const auto finish = [&] {
        const bool known = std::any_of(offers.begin(), offers.end(),
                                       [&](const Offer& other) { return other.version == offer.version; });
        if (offer.source.empty()) offer.source = name;
        if (!offer.version.empty() && !known) offers.push_back(offer);
        offer = {};
    };
    for (const std::string_view line : split(output, '\n')) {
        if (line.starts_with("Package:")) {
            finish();
            name = value_after(line, "Package:");
        } else if (line.starts_with("Version:")) {
            offer.version = value_after(line, "Version:");
        } else if (line.starts_with("Source:")) {  // "libfoo (1.0)" where the numbers differ
            const std::string_view source = value_after(line, "Source:");
            offer.source = source.substr(0, source.find(' '));
        } else if (line.starts_with("Depends:")) {
            add_needs(offer.needs, value_after(line, "Depends:"));
        } else if (line.starts_with("Pre-Depends:")) {
            add_needs(offer.needs, value_after(line, "Pre-Depends:"));
        }
    }
    finish();
    return offers;
}

std::string progress_of(std::string_view line) {
    for (const std::string_view start : {"Waiting for cache lock", "Unpacking ", "Setting up ", "Removing ",
                                         "Purging configuration files for ", "Get:"}) {
        if (!line.starts_with(start)) continue;
        std::string_view said = trimmed(line);
        while (said.ends_with('.')) said.remove_suffix(1);
        return printable(trimmed(said));
    }
    return {};
}

}  // namespace llmgw::packages::apt

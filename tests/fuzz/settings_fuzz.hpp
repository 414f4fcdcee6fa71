// Attack surface: the settings document. It comes over the network from llmgw's leader or from a file that
// people edit, and decides what root does on every machine. Whatever the bytes are, reading them must end,
// must not lose memory, and must either refuse with printable one-line errors or give settings that keep
// every promise made in core/settings.hpp. The corpus runs as an ordinary test too
// (tests/unit/json/settings_corpus_test.cpp).
#pragma once

#include <algorithm>
#include <set>
#include <string>
#include <string_view>

#include "core/names.hpp"
#include "core/settings_resolve.hpp"
#include "fuzz/promise.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "json/settings_json.hpp"

namespace llmgw::fuzz {

inline void check_resolved(const ResolvedSettings& resolved) {
    must(is_name(resolved.controller) && is_name(resolved.cluster_name) && is_name(resolved.partition));
    must(std::all_of(resolved.slurm_nodes.begin(), resolved.slurm_nodes.end(),
                     [](const std::string& name) { return is_name(name); }));
    const std::set<std::string> nodes(resolved.slurm_nodes.begin(), resolved.slurm_nodes.end());
    must(nodes.size() == resolved.slurm_nodes.size());
    must(std::all_of(resolved.lent.begin(), resolved.lent.end(),
                     [&](const std::string& name) { return nodes.contains(name); }));
    must(resolved.all_nodes || resolved.lent_unknown.empty());
    must(resolved.shared_path.find("/.") == std::string::npos);
    must(resolved.shared_path.find_first_of(" \t\n'\"\\$:") == std::string::npos);
    must(resolved.home_of("anna").value() == resolved.home_directory + "/anna");
}

inline void settings(std::string_view text) {
    const json::Document document = json::load(text);
    must(document.root.has_value() || !document.problems.empty());
    if (document.root) {
        const auto again = json::parse(json::dump(*document.root));
        must(again.ok() && again.value() == *document.root);
    }
    const json::ReadSettings read = json::read_settings_text(text);
    for (const SettingError& error : read.errors) {
        must(one_printable_line(error.key) && one_printable_line(error.message) && !error.message.empty());
    }
    if (!read.ok()) return;
    must(json::read_settings(json::to_value(read.settings)).settings == read.settings);
    const ResolvedSettings resolved = resolve_settings(read.settings, {"known", "ctl", "not a name"});
    if (resolved.enabled) {
        check_resolved(resolved);
    } else {
        must(resolved == ResolvedSettings{});
    }
}

}  // namespace llmgw::fuzz

#include "ctl/settings_text.hpp"

#include <string_view>
#include <vector>

namespace llmgw::ctl {

namespace {

void line(std::string& text, std::string_view label, std::string_view value) {
    constexpr std::size_t column = 15;
    text.append(label).append(":");
    text.append(label.size() + 1 < column ? column - label.size() - 1 : 1, ' ');
    text.append(value).append("\n");
}

std::string listed(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) {
        if (!text.empty()) text += ' ';
        text += name;
    }
    return text.empty() ? "none" : text;
}

std::string shared_text(const ResolvedSettings& settings) {
    switch (settings.shared) {
        case SharedSource::none:
            return "none";
        case SharedSource::site:
            return settings.shared_path + ", mounted by the site";
        case SharedSource::nfs:
            return settings.shared_path + ", mounted from " + settings.mount_source;
        case SharedSource::server:
            return settings.shared_path + ", exported by " + settings.shared_server;
    }
    return "none";
}

}  // namespace

std::string text_of(const ResolvedSettings& settings, bool machines_given) {
    if (!settings.enabled) return "Not enabled: nothing else is checked. Every node is llmgw's.\n";
    std::string text;
    line(text, "cluster", settings.cluster_name);
    line(text, "controller", settings.controller);
    line(text, "partition", settings.partition);
    const bool more = settings.all_nodes && !machines_given;
    line(text, "slurmd on",
         listed(settings.slurm_nodes) +
             (more ? ", and every other machine the leader knows (see --machines)" : ""));
    if (more && !settings.lent_unknown.empty()) {
        std::vector<std::string> lent = settings.lent;
        lent.insert(lent.end(), settings.lent_unknown.begin(), settings.lent_unknown.end());
        line(text, "lent", listed(lent));
    } else {
        line(text, "lent", listed(settings.lent));
        if (!settings.lent_unknown.empty()) line(text, "lent, unknown", listed(settings.lent_unknown));
    }
    line(text, "shared path", shared_text(settings));
    line(text, "homes", settings.home_directory + "/<login>");
    line(text, "users", settings.users == Users::llmgw ? "llmgw's accounts" : "the site's own");
    line(text, "containers", settings.containers ? "yes" : "no");
    return text;
}

}  // namespace llmgw::ctl

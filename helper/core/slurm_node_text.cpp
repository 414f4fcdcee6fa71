#include "core/slurm_node_text.hpp"

#include <charconv>

#include "core/state_text.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view header = "llmgw-slurm-node-in-slurm 1";
constexpr std::string_view no_reason = "-";

struct Flag {
    const char* key;
    bool NodeInSlurm::*value;
};
constexpr Flag flags[] = {{"known", &NodeInSlurm::known},
                          {"drained", &NodeInSlurm::drained},
                          {"kept.by.others", &NodeInSlurm::kept_by_others},
                          {"idle", &NodeInSlurm::idle},
                          {"registered", &NodeInSlurm::registered},
                          {"power.saving", &NodeInSlurm::power_saving}};

template <class Number>
bool reads(std::string_view text, Number& into) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), into);
    return problem == std::errc() && end == text.data() + text.size();
}

}  // namespace

Result<NodeInSlurm> parse_node_in_slurm(std::string_view text, const std::string& name) {
    const Result<StateFields> fields = parse_state_text(text, header);
    if (!fields) return fields.error();
    const Result<std::string> answered = state_field(fields.value(), "node");
    if (!answered) return answered.error();
    if (answered.value() != name)
        return Error{Code::invalid, "the answer is about node " + answered.value() + " and not " + name};
    NodeInSlurm node;
    for (const Flag& flag : flags) {
        const Result<std::string> word = state_field(fields.value(), flag.key);
        if (!word) return word.error();
        if (word.value() != "yes" && word.value() != "no")
            return Error{Code::invalid, "has an unknown \"" + std::string(flag.key) + "\""};
        node.*flag.value = word.value() == "yes";
    }
    const Result<std::string> reason = state_field(fields.value(), "reason");
    if (!reason) return reason.error();
    if (reason.value() != no_reason) node.reason = reason.value();
    return node;
}

std::string format_node_in_slurm(const NodeInSlurm& node, const std::string& name) {
    StateFields fields{{"node", name}};
    for (const Flag& flag : flags) fields.emplace_back(flag.key, node.*flag.value ? "yes" : "no");
    fields.emplace_back("reason", node.reason);
    return format_state_text(header, fields);
}

Result<std::vector<SlurmJob>> parse_slurm_jobs(std::string_view text) {
    std::vector<SlurmJob> jobs;
    for (const std::string_view line : split(text, '\n')) {
        if (line.empty()) continue;
        const std::vector<std::string_view> words = split(line, ' ');
        SlurmJob job;
        const bool whole = words.size() == 4 && reads(words[0], job.id) && reads(words[2], job.ends) &&
                           (words[3] == "batch" || words[3] == "interactive");
        if (!whole) return Error{Code::invalid, "\"" + std::string(line.substr(0, 100)) + "\" is no job"};
        job.user = words[1];
        job.batch = words[3] == "batch";
        jobs.push_back(std::move(job));
    }
    return jobs;
}

std::string format_slurm_job(const SlurmJob& job) {
    return std::to_string(job.id) + " " + job.user + " " + std::to_string(job.ends) +
           (job.batch ? " batch\n" : " interactive\n");
}

}  // namespace llmgw

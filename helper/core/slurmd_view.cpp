#include "core/slurmd_view.hpp"

#include <algorithm>
#include <array>

#include "core/text.hpp"

namespace llmgw {
namespace {

constexpr std::string_view digits = "0123456789";

struct StepName {
    std::string_view number;
    std::string_view name;
};
// slurm.h: SLURM_BATCH_SCRIPT, SLURM_EXTERN_CONT, SLURM_INTERACTIVE_STEP.
constexpr StepName step_names[] = {
    {"4294967291", "batch"}, {"4294967292", "extern"}, {"4294967290", "interactive"}};

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool same_key(std::string_view one, std::string_view other) {
    return std::equal(one.begin(), one.end(), other.begin(), other.end(),
                      [](char a, char b) { return lower(a) == lower(b); });
}

// Up to a '#' that has no backslash before it (parse_config.c).
std::string_view without_comment(std::string_view line) {
    for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
        if (at == 0 || line[at - 1] != '\\') return line.substr(0, at);
    }
    return line;
}

// "Key=value" or "Key = \"some value\"", at the beginning of a line: keys that come later in one belong to
// it.
std::optional<std::string> value_in(std::string_view line, std::string_view key) {
    line = trimmed(without_comment(line));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos || !same_key(trimmed(line.substr(0, equals)), key))
        return std::nullopt;
    std::string_view value = trimmed(line.substr(equals + 1));
    if (value.starts_with('"')) {
        value.remove_prefix(1);
        return std::string(value.substr(0, value.find('"')));
    }
    return std::string(value.substr(0, value.find_first_of(" \t\r")));
}

std::string count_of(std::size_t steps) {
    return steps == 1 ? "1 step runs" : std::to_string(steps) + " steps run";
}

std::string when(const SlurmdFacts& slurmd) {
    return slurmd.steps.empty()
               ? "; restart it"
               : "; restart it when no step runs any more (now " + count_of(slurmd.steps.size()) + ")";
}

}  // namespace

ToTell to_tell(const SlurmdFacts& slurmd, const StackChange& change) {
    if (change.main_published) {
        return {Tell::reconfigure,
                "all machines get plugstack.conf from this one: run \"scontrol reconfigure\""};
    }
    if (!slurmd.running) return {};
    if (slurmd.replaced) {
        return {Tell::restart,
                "pending restart: slurmd still runs the program from before its upgrade" + when(slurmd)};
    }
    if (!change.for_slurmd || slurmd.started_ns > change.changed_ns) return {};
    if (change.reconfigure_reloads) {
        return {Tell::reconfigure,
                "slurmd started before plugstack.conf was changed: run \"scontrol reconfigure\""};
    }
    return {Tell::restart,
            "pending restart: slurmd started before plugstack.conf was changed" + when(slurmd)};
}

std::optional<std::string> restart_must_wait(const SlurmdFacts& slurmd) {
    if (!slurmd.running || slurmd.steps.empty()) return std::nullopt;
    return "slurmd is not restarted while " + count_of(slurmd.steps.size()) + " here (" +
           slurmd.steps.front() + (slurmd.steps.size() > 1 ? ", ..." : "") + ")";
}

SlurmdArguments parse_slurmd_arguments(const std::vector<std::string>& argv) {
    constexpr std::string_view with_value = "dfLnN";  // "bcCd:Df:F::GhL:Mn:N:svVZ"; n's is a number
    SlurmdArguments found;
    for (std::size_t i = 1; i < argv.size(); ++i) {
        const std::string& word = argv[i];
        if (word == "--") break;
        if (word.starts_with("--")) {
            // Abbreviations that getopt_long(3) takes, too: no other option of slurmd's begins with "conf".
            const std::string name = word.substr(0, word.find('='));
            if (name.size() > 3 && std::string_view("--conf-server").starts_with(name))
                found.conf_server = true;
            continue;
        }
        if (!word.starts_with('-')) continue;
        for (std::size_t at = 1; at < word.size(); ++at) {
            if (word[at] == 'F') break;
            if (with_value.find(word[at]) == std::string_view::npos) continue;
            const bool here = at + 1 < word.size();
            const std::string value = here ? word.substr(at + 1) : i + 1 < argv.size() ? argv[i + 1] : "";
            if (word[at] == 'f') found.file = value;
            if (word[at] == 'N') found.node = value;
            if (!here) ++i;
            break;
        }
    }
    return found;
}

std::optional<std::string> slurm_conf_value(std::string_view text, std::string_view key) {
    std::optional<std::string> found;
    std::string whole;
    for (const std::string_view line : split(text, '\n')) {
        // A line that ends in a backslash goes on in the next one.
        if (line.ends_with('\\')) {
            whole += line.substr(0, line.size() - 1);
            continue;
        }
        whole += line;
        if (std::optional<std::string> value = value_in(whole, key)) found = std::move(value);
        whole.clear();
    }
    return found;
}

std::optional<std::string> slurm_conf_include(std::string_view line) {
    constexpr std::string_view word = "include";
    line = trimmed(without_comment(line));
    if (line.size() <= word.size() || !same_key(line.substr(0, word.size()), word)) return std::nullopt;
    const std::string_view file = trimmed(line.substr(word.size()));
    if (file.size() + word.size() == line.size() || file.empty()) return std::nullopt;
    return std::string(file.substr(0, file.find_first_of(" \t\r")));
}

std::optional<std::string> step_of_socket(std::string_view name, std::string_view node) {
    if (!name.starts_with(node)) return std::nullopt;
    name.remove_prefix(node.size());
    if (!name.starts_with('_')) return std::nullopt;
    name.remove_prefix(1);
    const std::vector<std::string_view> parts = split(name, '.');
    if (parts.size() < 2 || parts.size() > 3) return std::nullopt;
    for (const std::string_view part : parts) {
        if (part.empty() || part.find_first_not_of(digits) != std::string_view::npos) return std::nullopt;
    }
    std::string_view step = parts[1];
    for (const StepName& each : step_names) {
        if (step == each.number) step = each.name;
    }
    return std::string(parts[0]) + "." + std::string(step);
}

std::string expanded_path(std::string_view path, std::string_view node, std::string_view host) {
    std::string expanded;
    for (std::size_t i = 0; i < path.size(); ++i) {
        const char next = path[i] == '%' && i + 1 < path.size() ? path[i + 1] : '\0';
        if (next != 'n' && next != 'h') {
            expanded += path[i];
            continue;
        }
        expanded += next == 'n' ? node : host;
        ++i;
    }
    return expanded;
}

}  // namespace llmgw

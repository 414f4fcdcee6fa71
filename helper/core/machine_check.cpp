#include "core/machine_check.hpp"

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"

namespace llmgw {
namespace {

std::string two_digits(std::uint32_t number) {
    std::string text = std::to_string(number);
    return text.size() < 2 ? "0" + text : text;
}

std::string known(const std::string& version) {
    return version.empty() ? "of an unknown version" : version;
}

// Programs and the loader have said parts of it, and paths can be long: terminals obey control characters,
// and the leader refuses a report with those or past a limit, so that nobody would see why.
std::string cleaned(const std::string& text, std::size_t most) {
    return shortened(printable(text, most), most);
}

// The first thing that is wrong, in the order in which one would put it right.
std::optional<std::string> why_not(const MachineFacts& facts, const WantedVersions& wanted) {
    if (!facts.slurm) return "Slurm: " + facts.slurm.error().message;
    if (!facts.plugstack) return facts.plugstack.error().message;
    const std::optional<std::string> pyxis = pyxis_in(facts.plugstack.value());
    if (!facts.enroot_file || !facts.enroot) {
        return "enroot: " +
               (facts.enroot_file ? facts.enroot : Result<std::string>(facts.enroot_file.error()))
                   .error()
                   .message;
    }
    if (facts.enroot.value() != wanted.enroot) {
        return "enroot is " + known(facts.enroot.value()) + ", wanted is " + wanted.enroot;
    }
    if (!pyxis) return "pyxis is not in plugstack.conf";
    if (!facts.pyxis_file) return "pyxis: " + facts.pyxis_file.error().message;
    if (!facts.pyxis) return "pyxis: " + facts.pyxis.error().message;
    const PluginFacts& plugin = facts.pyxis.value();
    if (plugin.type != "spank" || plugin.name != "pyxis")
        return facts.pyxis_file.value().path + " is not pyxis";
    const bool fits = facts.pyxis_is_ours ? is_of_slurm(plugin.slurm, facts.slurm.value())
                                          : major_minor(plugin.slurm) == major_minor(facts.slurm.value());
    if (!fits) {
        return "pyxis was built for Slurm " + full_version(plugin.slurm) + ", this machine has " +
               facts.slurm.value();
    }
    if (plugin.version != wanted.pyxis) {
        return "pyxis is " + known(plugin.version) + ", wanted is " + wanted.pyxis;
    }
    if (std::optional<std::string> unsafe = unsafe_stack(facts.plugstack.value())) return unsafe;
    if (!facts.proven) return "no container was started yet with what is installed now";
    return std::nullopt;
}

std::map<std::string, std::string> versions_in(const MachineFacts& facts) {
    std::map<std::string, std::string> versions;
    if (facts.pyxis && !facts.pyxis.value().version.empty())
        versions["pyxis"] = cleaned(facts.pyxis.value().version, limits::report_word_bytes);
    if (facts.enroot) versions["enroot"] = cleaned(facts.enroot.value(), limits::report_word_bytes);
    if (facts.slurm) versions["slurm"] = cleaned(facts.slurm.value(), limits::report_word_bytes);
    return versions;
}

}  // namespace

MachineCheck check_machine(const MachineFacts& facts, const WantedVersions& wanted,
                           const std::string& helper_version) {
    MachineCheck check;
    const std::optional<std::string> reason = why_not(facts, wanted);
    const bool ready = !reason;
    const std::string text = cleaned(ready ? "pyxis " + wanted.pyxis + ", enroot " + wanted.enroot : *reason,
                                     limits::message_bytes);
    check.node = {facts.machine, ready, text, facts.boot, facts.oci, {}, {}, {}, {}, {}};
    if (ready) {
        check.node.pyxis_path = facts.pyxis_file.value().path;
        check.node.pyxis_fingerprint = facts.pyxis_file.value().fingerprint;
        check.node.enroot_path = facts.enroot_file.value().path;
        check.node.enroot_fingerprint = facts.enroot_file.value().fingerprint;
        check.node.user_directories = facts.user_directories;
    }
    check.report = {facts.machine, ready,          text, versions_in(facts),
                    facts.boot,    helper_version, {},   facts.hardware};
    check.cluster = facts.cluster;
    return check;
}

MachineCheck not_ready(const MachineCheck& check, const std::string& reason) {
    MachineCheck changed = check;
    const std::string text = cleaned(reason, limits::message_bytes);
    changed.node = {check.node.machine, false, text, check.node.boot, check.node.oci, {}, {}, {}, {}, {}};
    changed.report.ready = false;
    changed.report.reason = text;
    return changed;
}

std::string major_minor(const std::string& version) {
    const std::size_t first = version.find('.');
    if (first == std::string::npos) return version;
    return version.substr(0, version.find('.', first + 1));
}

std::string major_minor(std::uint32_t stamp) {
    return std::to_string((stamp >> 16) & 0xff) + "." + two_digits((stamp >> 8) & 0xff);
}

bool is_of_slurm(std::uint32_t stamp, const std::string& version) {
    return full_version(stamp) == version.substr(0, version.find('-'));
}

std::string full_version(std::uint32_t stamp) {
    return major_minor(stamp) + "." + std::to_string(stamp & 0xff);
}

}  // namespace llmgw

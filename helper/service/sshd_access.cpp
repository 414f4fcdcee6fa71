#include "service/sshd_access.hpp"

#include <unistd.h>

#include "core/limits.hpp"
#include "core/sshd_config.hpp"
#include "posix/file.hpp"
#include "posix/process.hpp"
#include "service/recorded_files.hpp"

namespace llmgw::service {
namespace {

const std::vector<std::string> environment{"PATH=/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C"};
constexpr unsigned everyone_reads = 0644;

}  // namespace

SshdAccess::SshdAccess(SshdOptions options)
    : options_(std::move(options)), ledger_(options_.state_dir + "/sshd.json") {}

Result<std::string> SshdAccess::ask(const char* option) const {
    const Result<Outcome> ran = run({{options_.program, option, "-f", options_.main_file},
                                     environment,
                                     {},
                                     {},
                                     limits::program_deadline,
                                     256 * 1024});
    if (!ran) return ran.error();
    if (ran.value().success()) return ran.value().output;
    return Error{Code::invalid, last_line(ran.value().output)};
}

SshFacts SshdAccess::look() const {
    SshFacts facts;
    facts.installed = ::access(options_.program.c_str(), X_OK) == 0;
    if (!facts.installed) return facts;
    const Result<std::string> main_file = read_file(options_.main_file, limits::settings_bytes);
    if (!main_file) {
        facts.problem = main_file.error().message;
        return facts;
    }
    facts.wanted = {options_.drop_in, sshd_drop_in_text(main_file.value(), options_.keys), everyone_reads};
    facts.there = machine_file_at(options_.drop_in);
    if (facts.there != facts.wanted) return facts;
    const Result<std::string> effective = ask("-T");
    if (!effective) {
        facts.problem = "sshd -T: " + effective.error().message;
    } else if (!sshd_reads_keys(effective.value(), options_.keys)) {
        facts.problem = "sshd does not read " + options_.drop_in +
                        ", or another file sets AuthorizedKeysFile before it: add " + options_.keys +
                        "/%u to that line, or \"Include /etc/ssh/sshd_config.d/*.conf\" to " +
                        options_.main_file;
    }
    return facts;
}

void reload_sshd(const std::string& systemctl) {
    // Debian's name and Red Hat's. One that does not run reads it when it starts.
    for (const char* unit : {"ssh.service", "sshd.service"}) {
        const Result<Outcome> active = run(
            {{systemctl, "is-active", "--quiet", unit}, environment, {}, {}, limits::program_deadline, 4096});
        if (!active || !active.value().success()) continue;
        static_cast<void>(
            run({{systemctl, "reload", unit}, environment, {}, {}, limits::program_deadline, 4096}));
        return;
    }
}

Result<void> SshdAccess::write(const MachineFile& file) const {
    if (const Result<std::string> before = ask("-t"); !before) {
        return Error{Code::invalid, "sshd does not take its own settings, so none were added: " +
                                        before.error().message + " (sshd -t)"};
    }
    if (const Result<void> written = write_recorded(ledger_, file); !written) return written;
    const Result<std::string> after = ask("-T");
    if (after && sshd_reads_keys(after.value(), options_.keys)) {
        reload();
        return {};
    }
    std::vector<std::string> left;
    if (const Result<void> undone = restore_recorded(ledger_, file.path, left); !undone) return undone;
    if (!after)
        return Error{Code::invalid, "sshd does not take " + file.path +
                                        ", so it was removed again: " + after.error().message};
    return Error{Code::conflict,
                 "with " + file.path + " sshd still does not read " + options_.keys +
                     ", so it was removed again: another file sets AuthorizedKeysFile before it (add " +
                     options_.keys + "/%u to that line), or " + options_.main_file +
                     " does not include sshd_config.d/*.conf"};
}

Result<std::vector<std::string>> SshdAccess::remove() const {
    std::vector<std::string> left;
    if (!did_anything()) return left;
    if (const Result<void> done = restore_recorded(ledger_, options_.drop_in, left); !done)
        return done.error();
    if (::access(options_.program.c_str(), X_OK) == 0) reload();
    if (const Result<void> forgotten = ledger_.remove(); !forgotten) return forgotten.error();
    return left;
}

bool SshdAccess::did_anything() const {
    const Result<Ledger> ledger = ledger_.read();
    return !ledger || !ledger.value().empty();
}

}  // namespace llmgw::service

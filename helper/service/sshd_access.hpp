// Has sshd read the accounts' keys (core/sshd_config.hpp).
#pragma once

#include <string>
#include <vector>

#include "core/machine_files.hpp"
#include "core/plan.hpp"
#include "core/result.hpp"
#include "service/ledger_store.hpp"

namespace llmgw::service {

struct SshdOptions {
    std::string state_dir = "/var/lib/llmgw-slurm";
    std::string keys = "/etc/ssh/llmgw-slurm/keys";
    std::string program = "/usr/sbin/sshd";
    std::string main_file = "/etc/ssh/sshd_config";
    std::string drop_in;
    std::string systemctl = "/usr/bin/systemctl";
};

// A running sshd reads its settings anew.
void reload_sshd(const std::string& systemctl);

class SshdAccess {
  public:
    explicit SshdAccess(SshdOptions options);

    [[nodiscard]] SshFacts look() const;
    // Counts only if sshd takes it; else what was there is put back. A running sshd reads it at once.
    Result<void> write(const MachineFile& file) const;
    Result<std::vector<std::string>> remove() const;
    [[nodiscard]] bool did_anything() const;

  private:
    [[nodiscard]] Result<std::string> ask(const char* option) const;
    void reload() const { reload_sshd(options_.systemctl); }

    const SshdOptions options_;
    const LedgerStore ledger_;
};

}  // namespace llmgw::service

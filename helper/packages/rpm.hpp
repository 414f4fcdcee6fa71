// rpm and dnf behind the port (manager.hpp). rpm's database is asked directly; whatever dnf does is a task of
// the runner, since even its looking writes caches and may have to fetch them.
#pragma once

#include <string>
#include <vector>

#include "packages/dnf_commands.hpp"
#include "packages/dnf_output.hpp"
#include "packages/manager.hpp"
#include "packages/query.hpp"
#include "packages/transaction.hpp"

namespace llmgw::packages {

class RpmManager final : public Manager {
  public:
    // `native`: rpm's name of the machine's architecture. The runner must outlive this.
    RpmManager(TaskRunner& runner, ManagerOptions options, dnf::Program dnf, std::string native,
               Query query = run);

    [[nodiscard]] Family family() const override { return Family::rpm; }
    Result<Installed> installed() override;
    Result<Preview> preview(const Wanted& wanted, const std::stop_token& stop) override;
    Result<std::vector<Offer>> offers(const std::string& name, const std::stop_token& stop) override;
    Result<void> refresh(const Progress& progress, const std::stop_token& stop) override;
    Result<void> read_source(const std::string& source_file, const std::string& apart,
                             const Progress& progress, const std::stop_token& stop) override;
    Result<void> repair(const Progress& progress, const std::stop_token& stop) override;
    Result<void> install(const Wanted& wanted, const Progress& progress,
                         const std::stop_token& stop) override;
    Result<void> remove(const std::vector<std::string>& names, const Progress& progress,
                        const std::stop_token& stop) override;
    // By the versionlock plugin, or, where dnf4 has none, by an exclude line in repository files of ours.
    Result<void> hold(const std::vector<std::string>& names, bool held, const std::stop_token& stop) override;
    Result<std::vector<std::string>> held() override;

  private:
    Result<std::vector<dnf::Package>> packages();
    Result<std::vector<dnf::Package>> look_into(const std::vector<std::string>& files);
    Result<dnf::Table> table(const Task& task, const std::string& what, const std::stop_token& stop);
    Result<dnf::Table> simulate(const Wanted& wanted, const Progress& progress, const std::stop_token& stop);
    Result<std::vector<std::string>> configuration_of(const std::vector<std::string>& names);
    Result<TaskResult> change(const Task& task, const Progress& progress, const std::stop_token& stop);
    Result<void> must(const Task& task, const std::string& what, const Progress& progress,
                      const std::stop_token& stop);
    Locks locks();

    TaskRunner& runner_;
    const ManagerOptions options_;
    const dnf::Program dnf_;
    const std::string native_;
    const Query query_;
    std::string rpm_lock_;  // asked for once
};

}  // namespace llmgw::packages

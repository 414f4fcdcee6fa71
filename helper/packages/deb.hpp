// dpkg and apt behind the port (manager.hpp). Questions are put to dpkg's database directly; every change is
// a task of the runner, one at a time.
#pragma once

#include <string>
#include <vector>

#include "packages/apt_output.hpp"
#include "packages/manager.hpp"
#include "packages/query.hpp"
#include "packages/transaction.hpp"
#include "posix/remembered.hpp"

namespace llmgw::packages {

class DebManager final : public Manager {
  public:
    // `native`: dpkg's name of the machine's architecture. The runner must outlive this.
    DebManager(TaskRunner& runner, ManagerOptions options, std::string native, Query query = run);

    [[nodiscard]] Family family() const override { return Family::deb; }
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
    Result<void> hold(const std::vector<std::string>& names, bool held, const std::stop_token& stop) override;
    Result<std::vector<std::string>> held() override;

  private:
    Result<std::vector<apt::State>> states();
    Result<std::vector<apt::State>> read_states();
    Result<Outcome> ask(const Command& command);
    Result<Preview> simulate(const Wanted& wanted, bool again, const Progress& progress,
                             const std::stop_token& stop);
    Result<std::vector<apt::PackageFile>> look_into(const std::vector<std::string>& files);
    Result<TaskResult> change(const MakeTask& make, const Progress& progress, const std::stop_token& stop);
    // A change that must succeed; `what` begins the sentence that says that it didn't.
    Result<void> must(const MakeTask& make, const std::string& what, const Progress& progress,
                      const std::stop_token& stop);
    Result<void> wait(const Progress& progress, const std::stop_token& stop);
    [[nodiscard]] bool interrupted() const;

    TaskRunner& runner_;
    const ManagerOptions options_;
    const std::string native_;
    const Query query_;
    const Locks locks_;
    Remembered<std::vector<apt::State>> states_;
};

}  // namespace llmgw::packages

// What machines said about themselves: DIR/machines/NAME.json, and all of it in memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/report.hpp"
#include "leader/revision.hpp"

namespace llmgw::leader {

// Unix time.
using Now = std::function<std::int64_t()>;

class ReportStore {
  public:
    struct Body {
        std::uint64_t revision = 0;
        std::shared_ptr<const std::string> text;  // what GET answers
    };

    // Files that hold no report are skipped and named in `skipped`.
    static Result<std::unique_ptr<ReportStore>> open(const std::string& directory, Now now,
                                                     std::vector<std::string>& skipped);

    [[nodiscard]] std::uint64_t revision() const;
    [[nodiscard]] Body body() const;

    // Kept for good before it returns; a report that says what the last one said only counts as a sign of
    // life, and is no news. True: there is news. too_large: limits::machines; internal: the disk.
    Result<bool> put(const MachineReport& report);
    // For a machine that is gone for good. missing: it never reported.
    Result<void> forget(const std::string& name);
    // Machines that fell silent (limits::report_silent_after) since the last call are news, too: readers can
    // then tell from one answer and its `now` until the next. Does nothing cheaply when there are none.
    Result<bool> notice_silence();

  private:
    struct Machine {
        KnownMachine known;
        std::string text;
        bool silent = false;
    };

    ReportStore(std::string directory, Now now, Revision revision)
        : directory_(std::move(directory)), now_(std::move(now)), revision_(std::move(revision)) {}

    [[nodiscard]] std::string file(const std::string& name) const {
        return directory_ + "/" + name + ".json";
    }
    void load(std::vector<std::string>& skipped);
    bool load_one(const std::string& name);
    // True: it was one. With mutex_ held.
    Result<bool> sign_of_life(const MachineReport& report, bool& news);

    const std::string directory_;
    const Now now_;
    std::mutex writing_;  // taken first; held over disk writes, so that readers never wait for a disk
    mutable std::mutex mutex_;
    Revision revision_;
    std::map<std::string, Machine> machines_;
};

}  // namespace llmgw::leader

// The accounts: DIR/accounts.json, which whoever keeps this site's accounts writes. As with the settings,
// what is served always passed every rule; where the file doesn't, the last one that did stays
// (DIR/accounts.good.json).
#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "core/result.hpp"
#include "leader/revision.hpp"

namespace llmgw::leader {

class AccountsStore {
  public:
    struct Body {
        std::uint64_t revision = 0;
        std::shared_ptr<const std::string> text;  // null: there never was a good file, so there is no list
        std::string problem;                      // why a newer file is not in force; empty: none
    };

    static Result<std::unique_ptr<AccountsStore>> open(const std::string& directory);

    [[nodiscard]] Body now() const;
    // Reads the file again; true: there is news. An error is one of the disk, and a later call may do better.
    Result<bool> reload();

  private:
    AccountsStore(std::string directory, Revision revision)
        : directory_(std::move(directory)), revision_(std::move(revision)) {}

    [[nodiscard]] std::string file() const { return directory_ + "/accounts.json"; }
    [[nodiscard]] std::string good_file() const { return directory_ + "/accounts.good.json"; }
    Result<bool> look(bool first);

    const std::string directory_;
    mutable std::mutex mutex_;
    Revision revision_;
    std::string good_text_;  // as it stands in accounts.good.json; empty: there is none
    Body published_;
};

}  // namespace llmgw::leader

// The embedded leader: stores, service and server put together over one directory.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "http/server.hpp"
#include "leader/drainer.hpp"
#include "leader/options.hpp"
#include "leader/service.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::leader {

class Leader {
  public:
    // Makes the directory (0700) and the tokens where they are missing. conflict: another leader has the
    // directory.
    static Result<std::unique_ptr<Leader>> start(const Options& options, Now now);
    // Answers waiting polls, then ends.
    ~Leader();
    Leader(const Leader&) = delete;
    Leader& operator=(const Leader&) = delete;

    [[nodiscard]] std::uint16_t port() const { return server_->port(); }
    [[nodiscard]] const http::Server& server() const { return *server_; }
    [[nodiscard]] std::string status() const;  // one line for people

    // settings.json may have changed.
    void reload_settings();
    // accounts.json may have changed.
    void reload_accounts();
    // leader.json may have changed.
    void reload_site();
    // Tokens, too; the old ones stay where the new ones can't be used.
    void reload_all();
    // Now and then: machines that fell silent, and what a full disk held back.
    void tick();

  private:
    explicit Leader(Options options) : options_(std::move(options)) {}
    Result<void> open(Now now);
    Result<void> open_leases();
    Result<void> serve();
    void news(http::Topic topic);
    void settle_reclaims();

    const Options options_;
    Descriptor lock_;
    std::unique_ptr<SettingsStore> settings_;
    std::unique_ptr<ReportStore> reports_;
    std::unique_ptr<AccountsStore> accounts_;
    std::unique_ptr<SiteFile> site_;
    std::unique_ptr<LeaseStore> leases_;
    std::optional<Drainer> drainer_;
    std::mutex making_key_;
    std::unique_ptr<Service> service_;
    std::atomic<http::Server*> announcer_{nullptr};
    std::optional<http::Server> server_;  // last: it ends first
    bool behind_ = false;                 // the last look at settings.json failed
    bool accounts_behind_ = false;        // that at accounts.json
};

}  // namespace llmgw::leader

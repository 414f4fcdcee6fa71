// The contract (docs/contract.openapi.yaml) over the stores: who may, where to, and what is answered.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "http/server.hpp"
#include "leader/accounts_store.hpp"
#include "leader/lease_store.hpp"
#include "leader/report_store.hpp"
#include "leader/settings_store.hpp"
#include "leader/tokens.hpp"

namespace llmgw::leader {

inline constexpr http::Topic settings_topic = 0;
inline constexpr http::Topic machines_topic = 1;
inline constexpr http::Topic accounts_topic = 2;
// Each node's lease has one of the rest, so that a change wakes a few nodes' polls and not all of them.
http::Topic lease_topic(const std::string& node);
// Why a newer accounts.json is not in force; the list itself has no place for it.
inline constexpr const char* problem_header = "Llmgw-Problem";

class Service : public http::Handler {
  public:
    using News = std::function<void(http::Topic)>;
    using Secret = std::function<Result<std::string>()>;
    // There may be something to do on that node.
    using Look = std::function<void(const std::string& node)>;

    struct Stores {
        SettingsStore& settings;
        ReportStore& reports;
        AccountsStore& accounts;
        LeaseStore& leases;
        const SiteFile& site;
    };

    // The stores outlive the service. `news` is called when readers should be asked again.
    Service(const Stores& stores, Tokens tokens, News news, Look look)
        : settings_(stores.settings),
          reports_(stores.reports),
          accounts_(stores.accounts),
          leases_(stores.leases),
          site_(stores.site),
          news_(std::move(news)),
          look_(std::move(look)),
          tokens_(std::move(tokens)) {}

    void use_tokens(Tokens tokens);
    // Where the munge key comes from, as base64. Not called: this leader gives none to anybody, since others
    // could read it on its way.
    void serve_munge_key(Secret key) { munge_key_ = std::move(key); }

    // A node that is lent (again) has nothing to be reclaimed from. After each change of the settings.
    Result<void> settle_reclaims();

    std::variant<http::Answer, std::size_t> admit(const http::Incoming& request) override;
    std::variant<http::Answer, http::Wait> answer(const http::Incoming& request) override;

  private:
    using Reply = std::variant<http::Answer, http::Wait>;

    Caller caller(const http::Incoming& request) const;
    Reply get_settings(const http::Incoming& request) const;
    Reply get_machines(const http::Incoming& request) const;
    Reply get_accounts(const http::Incoming& request) const;
    http::Answer patch_settings(const http::Incoming& request);
    http::Answer put_report(const std::string& machine, const http::Incoming& request);
    http::Answer forget_machine(const std::string& machine);
    [[nodiscard]] http::Answer get_munge_key() const;
    Reply get_lease(const std::string& node, const http::Incoming& request) const;
    http::Answer change_lease(const std::string& node, const http::Incoming& request);
    Result<void> reclaim(const Patch& patch);

    SettingsStore& settings_;
    ReportStore& reports_;
    AccountsStore& accounts_;
    LeaseStore& leases_;
    const SiteFile& site_;
    const News news_;
    const Look look_;
    Secret munge_key_;
    mutable std::mutex mutex_;
    Tokens tokens_;
};

}  // namespace llmgw::leader

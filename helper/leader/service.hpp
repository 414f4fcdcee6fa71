// The contract (docs/contract.openapi.yaml) over the stores: who may, where to, and what is answered.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "http/server.hpp"
#include "leader/accounts_store.hpp"
#include "leader/report_store.hpp"
#include "leader/settings_store.hpp"
#include "leader/tokens.hpp"

namespace llmgw::leader {

inline constexpr http::Topic settings_topic = 0;
inline constexpr http::Topic machines_topic = 1;
inline constexpr http::Topic accounts_topic = 2;
// Why a newer accounts.json is not in force; the list itself has no place for it.
inline constexpr const char* problem_header = "Llmgw-Problem";

class Service : public http::Handler {
  public:
    using News = std::function<void(http::Topic)>;
    using Secret = std::function<Result<std::string>()>;

    // The stores outlive the service. `news` is called when readers should be asked again.
    Service(SettingsStore& settings, ReportStore& reports, AccountsStore& accounts, Tokens tokens, News news)
        : settings_(settings),
          reports_(reports),
          accounts_(accounts),
          news_(std::move(news)),
          tokens_(std::move(tokens)) {}

    void use_tokens(Tokens tokens);
    // Where the munge key comes from, as base64. Not called: this leader gives none to anybody, since others
    // could read it on its way.
    void serve_munge_key(Secret key) { munge_key_ = std::move(key); }

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

    SettingsStore& settings_;
    ReportStore& reports_;
    AccountsStore& accounts_;
    const News news_;
    Secret munge_key_;
    mutable std::mutex mutex_;
    Tokens tokens_;
};

}  // namespace llmgw::leader

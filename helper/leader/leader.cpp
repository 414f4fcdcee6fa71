#include "leader/leader.hpp"

#include "core/limits.hpp"
#include "core/url.hpp"
#include "leader/munge_key.hpp"
#include "posix/events.hpp"
#include "posix/file.hpp"
#include "posix/log.hpp"

namespace llmgw::leader {
namespace {

// Certificates with long chains have some 20 KB.
constexpr std::size_t pem_bytes = 1024 * 1024;

Result<std::string> read_pem(const std::string& path) {
    if (path.empty()) return std::string();
    return read_file(path, pem_bytes);
}

}  // namespace

Result<std::unique_ptr<Leader>> Leader::start(const Options& options, Now now) {
    std::unique_ptr<Leader> leader(new Leader(options));
    if (Result<void> opened = leader->open(std::move(now)); !opened) return opened.error();
    if (Result<void> served = leader->serve(); !served) return served.error();
    return leader;
}

Leader::~Leader() {
    // Before the server ends: its threads tell the server of news.
    if (drainer_) drainer_->stop();
}

Result<void> Leader::open(Now now) {
    const std::string& directory = options_.directory;
    if (Result<void> made = make_directories(directory, 0700); !made) return made;
    Result<Descriptor> lock = lock_file(directory + "/lock");
    if (!lock) {
        const bool taken = lock.error().code == Code::conflict;
        return taken ? lock.error().within("another leader uses this directory") : lock.error();
    }
    lock_ = std::move(lock).value();
    Result<Tokens> tokens = load_tokens(directory);
    if (!tokens) return tokens.error();
    Result<std::unique_ptr<SettingsStore>> settings = SettingsStore::open(directory);
    if (!settings) return settings.error();
    settings_ = std::move(settings).value();
    if (const std::string problem = settings_->problem(); !problem.empty()) log(Level::warning, problem);
    std::vector<std::string> skipped;
    Result<std::unique_ptr<ReportStore>> reports = ReportStore::open(directory, std::move(now), skipped);
    if (!reports) return reports.error();
    reports_ = std::move(reports).value();
    for (const std::string& path : skipped)
        log(Level::warning, path + " holds no machine's report, and is passed over");
    Result<std::unique_ptr<AccountsStore>> accounts = AccountsStore::open(directory);
    if (!accounts) return accounts.error();
    accounts_ = std::move(accounts).value();
    if (const std::string problem = accounts_->now().problem; !problem.empty()) log(Level::warning, problem);
    if (Result<void> leases = open_leases(); !leases) return leases;
    service_ = std::make_unique<Service>(
        Service::Stores{*settings_, *reports_, *accounts_, *leases_, *site_}, std::move(tokens).value(),
        [this](http::Topic topic) { news(topic); },
        [this](const std::string& node) { drainer_->look(node); });
    settle_reclaims();
    if (!options_.tls_cert.empty() || is_loopback(options_.address)) {
        service_->serve_munge_key([this] {
            const std::lock_guard making(making_key_);
            return load_munge_key(options_.directory);
        });
    }
    return {};
}

Result<void> Leader::open_leases() {
    Result<std::unique_ptr<SiteFile>> site = SiteFile::open(options_.directory);
    if (!site) return site.error();
    site_ = std::move(site).value();
    Result<std::unique_ptr<LeaseStore>> leases = LeaseStore::open(options_.directory);
    if (!leases) return leases.error();
    leases_ = std::move(leases).value();
    drainer_.emplace(*leases_, *site_, options_.longest_lease_pause,
                     [this](const std::string& node) { news(lease_topic(node)); });
    return {};
}

Result<void> Leader::serve() {
    http::ServerOptions options;
    options.address = options_.address;
    options.port = options_.port;
    Result<std::string> certificate = read_pem(options_.tls_cert);
    if (!certificate) return certificate.error();
    Result<std::string> key = read_pem(options_.tls_key);
    if (!key) return key.error();
    options.certificate = std::move(certificate).value();
    options.key = std::move(key).value();
    Result<http::Server> server = http::Server::start(options, *service_);
    if (!server) return server.error();
    server_.emplace(std::move(server).value());
    announcer_ = &*server_;
    // Polls that came while nobody could be told yet.
    for (http::Topic topic = 0; topic < http::topics; ++topic) news(topic);
    if (const std::size_t begun = leases_->unsettled().size(); begun > 0)
        log(Level::info, std::to_string(begun) + " nodes were being drained or released: going on with it");
    drainer_->look_everywhere();
    return {};
}

void Leader::settle_reclaims() {
    if (Result<void> settled = service_->settle_reclaims(); !settled)
        log(Level::error, settled.error().message);
}

void Leader::news(http::Topic topic) {
    if (http::Server* const server = announcer_; server != nullptr) server->wake(topic);
}

std::string Leader::status() const {
    const bool six = options_.address.find(':') != std::string::npos;
    const std::string host = six ? "[" + options_.address + "]" : options_.address;
    const std::string url =
        (options_.tls_cert.empty() ? "http://" : "https://") + host + ":" + std::to_string(port());
    std::string problem = settings_->problem();
    if (problem.empty()) problem = accounts_->now().problem;
    if (problem.empty()) problem = site_->problem();
    return "listening on " + url + (problem.empty() ? "" : "; " + problem);
}

void Leader::reload_settings() {
    const Result<bool> looked = settings_->reload();
    behind_ = !looked.ok();
    if (!looked) {
        log(Level::error, looked.error().message);
        return;
    }
    if (!looked.value()) return;
    const std::string problem = settings_->problem();
    if (problem.empty()) {
        log(Level::info, "settings revision " + std::to_string(settings_->now().revision) + " is in force");
    } else {
        log(Level::warning, problem);
    }
    news(settings_topic);
    settle_reclaims();
}

void Leader::reload_site() {
    if (!site_->reload()) return;
    if (const std::string problem = site_->problem(); !problem.empty()) {
        log(Level::warning, problem);
        return;
    }
    log(Level::info, "the commands in leader.json are in force");
    drainer_->look_everywhere();
}

void Leader::reload_accounts() {
    const Result<bool> looked = accounts_->reload();
    accounts_behind_ = !looked.ok();
    if (!looked) {
        log(Level::error, looked.error().message);
        return;
    }
    if (!looked.value()) return;
    const AccountsStore::Body accounts = accounts_->now();
    if (accounts.problem.empty()) {
        log(Level::info, "accounts revision " + std::to_string(accounts.revision) + " is in force");
    } else {
        log(Level::warning, accounts.problem);
    }
    news(accounts_topic);
}

void Leader::reload_all() {
    Result<Tokens> tokens = load_tokens(options_.directory);
    if (tokens) {
        service_->use_tokens(std::move(tokens).value());
    } else {
        log(Level::error, tokens.error().message + "; the tokens read before stay in force");
    }
    reload_settings();
    reload_accounts();
    reload_site();
}

void Leader::tick() {
    if (behind_) reload_settings();
    if (accounts_behind_) reload_accounts();
    const Result<bool> silent = reports_->notice_silence();
    if (!silent) log(Level::error, silent.error().message);
    if (silent && silent.value()) news(machines_topic);
}

}  // namespace llmgw::leader

#include "leader/accounts_store.hpp"

#include "core/limits.hpp"
#include "core/text.hpp"
#include "json/accounts_json.hpp"
#include "json/dump.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

// Addresses of people: nobody else's business.
constexpr mode_t only_us = 0600;

}  // namespace

Result<std::unique_ptr<AccountsStore>> AccountsStore::open(const std::string& directory) {
    Result<Revision> revision = Revision::open(directory + "/revision.accounts", 1);
    if (!revision) return revision.error();
    std::unique_ptr<AccountsStore> store(new AccountsStore(directory, std::move(revision).value()));
    Result<std::string> good = read_file(store->good_file(), limits::accounts_bytes);
    if (good && json::read_accounts_text(good.value()).ok()) store->good_text_ = std::move(good).value();
    const std::lock_guard lock(store->mutex_);
    if (Result<bool> looked = store->look(true); !looked) return looked.error();
    return store;
}

AccountsStore::Body AccountsStore::now() const {
    const std::lock_guard lock(mutex_);
    return published_;
}

Result<bool> AccountsStore::reload() {
    const std::lock_guard lock(mutex_);
    return look(false);
}

Result<bool> AccountsStore::look(bool first) {
    Result<std::string> text = read_file(file(), limits::accounts_bytes);
    std::string problem;
    bool fresh = false;
    if (text) {
        const ReadAccounts read = json::read_accounts_text(text.value());
        if (!read.ok()) {
            problem = file() + " is wrong, and the last good accounts stay in force: " +
                      json::sentence_of(read.errors);
        }
        fresh = read.ok() && text.value() != good_text_;
    } else if (text.error().code != Code::missing || !good_text_.empty()) {
        problem = text.error().message + "; the last good accounts stay in force: put the file back";
    }
    problem = shortened(problem, limits::message_bytes);
    if (!first && !fresh && problem == published_.problem) return false;
    if (fresh) {
        // The copy first: after a crash at any point below it is what a start falls back to.
        const Result<void> kept =
            write_file_atomically(good_file(), text.value(), only_us, Durability::durable);
        if (!kept) return kept.error();
    }
    if (Result<void> raised = revision_.raise(); !raised) return raised.error();
    if (fresh) good_text_ = std::move(text).value();
    published_.revision = revision_.value();
    published_.problem = std::move(problem);
    published_.text.reset();
    if (!good_text_.empty()) {
        const ReadAccounts read = json::read_accounts_text(good_text_);
        published_.text = std::make_shared<const std::string>(json::dump(value_of(read.accounts)));
    }
    return true;
}

}  // namespace llmgw::leader

#include "service/ledger_store.hpp"

#include "core/limits.hpp"
#include "json/dump.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

// Names and versions of packages, and site files that ours took the place of: beyond it stands nothing of
// ours.
constexpr mode_t only_root = 0600;

}  // namespace

Result<Ledger> LedgerStore::read() const {
    const Result<std::string> text = read_file(path_, limits::ledger_bytes);
    if (!text) return text.error().code == Code::missing ? Result<Ledger>(Ledger{}) : text.error();
    const Result<Value> value = json::parse(text.value(), {limits::ledger_bytes, limits::json_depth});
    const std::string context = path_ + ", which says what llmgw-slurm did to this machine, is damaged";
    if (!value) return value.error().within(context);
    Result<Ledger> ledger = ledger_from(value.value());
    return ledger ? std::move(ledger) : ledger.error().within(context);
}

Result<void> LedgerStore::write(const Ledger& ledger) const {
    const Result<Ledger> there = read();
    if (there && there.value() == ledger) return {};
    return write_file_atomically(path_, json::dump(value_of(ledger), json::Layout::indented) + "\n",
                                 only_root, Durability::durable);
}

Result<void> LedgerStore::remove() const {
    return remove_file(path_);
}

}  // namespace llmgw::service

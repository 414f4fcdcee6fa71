// The ledger (core/ledger.hpp) on disk: STATE/ledger.json, written durably before the effect that it is
// about.
#pragma once

#include <string>

#include "core/ledger.hpp"

namespace llmgw::service {

class LedgerStore {
  public:
    explicit LedgerStore(std::string path) : path_(std::move(path)) {}

    // No file: an empty ledger. A broken one is an error (it would be forgotten what to undo) that names it.
    [[nodiscard]] Result<Ledger> read() const;
    // Does nothing when the file says so already.
    Result<void> write(const Ledger& ledger) const;
    // Reads, changes, writes.
    template <class Change>
    Result<void> change(Change change) const {
        Result<Ledger> ledger = read();
        if (!ledger) return ledger.error();
        change(ledger.value());
        return write(ledger.value());
    }
    Result<void> remove() const;

  private:
    std::string path_;
};

}  // namespace llmgw::service

// One answer to a download: checked before its first byte is written, taken into the part, and judged.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "http/download.hpp"
#include "http/part_file.hpp"
#include "http/transfer.hpp"

namespace llmgw::http {

// What comes after an answer.
enum class Next {
    done,
    again,   // what was begun can be gone on with, or the server asked to come later
    afresh,  // from the first byte: what is there can't be gone on with
    never,
};

struct Verdict {
    Next next = Next::never;
    Error error;  // unless done
    std::chrono::seconds not_before{0};
};

class Reception {
  public:
    // `part` goes on at its end when a range was asked for, and begins anew else.
    Reception(const Download& what, PartFile& part, bool asked_for_range)
        : what_(what), part_(part), asked_for_range_(asked_for_range) {}

    // False ends the transfer; verdict() knows why.
    [[nodiscard]] bool take_header(std::string_view line);
    [[nodiscard]] bool take_body(std::string_view piece, int status);
    // Of an answer that is over, and no redirect.
    Verdict verdict(CURL* easy, CURLcode result, const char* reason);
    // Of one that is `done`.
    [[nodiscard]] bool in_one_piece() const noexcept { return in_one_piece_; }

  private:
    bool begin(int status);
    bool begin_whole();
    bool begin_range();
    bool admit(std::optional<std::uint64_t> total);
    bool refuse(Verdict because);
    Verdict ended(CURL* easy, CURLcode result, const char* reason);
    Verdict unsatisfied();
    [[nodiscard]] std::string field(std::string_view name) const { return header(head_.headers, name); }

    const Download& what_;
    PartFile& part_;
    bool asked_for_range_;
    AnswerHead head_;
    bool head_too_large_ = false;
    std::size_t dropped_ = 0;
    bool begun_ = false;
    std::uint64_t end_ = 0;  // where it says that it ends; 0: it doesn't
    bool in_one_piece_ = false;
    std::optional<Verdict> refused_;
};

}  // namespace llmgw::http

// Errors as values. Our code does not throw; a caller adds context in front of a message and never rewords
// it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace llmgw {

enum class Code {
    invalid,      // the input is wrong; trying again won't help
    missing,      // a file, program, machine or key isn't there
    denied,       // the caller or this process may not
    unavailable,  // somebody didn't answer; trying again may help
    timeout,
    too_large,  // past a limit of core/limits.hpp
    conflict,   // changed meanwhile, or belongs to somebody else
    internal,   // the system call failed; the message has its reason
};

struct Error {
    Code code = Code::internal;
    std::string message;  // one line: what happened, where, what to do

    [[nodiscard]] Error within(const std::string& context) const { return {code, context + ": " + message}; }
    bool operator==(const Error&) const = default;
};

template <class T>
class [[nodiscard]] Result {
  public:
    Result(T value) : content_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : content_(std::in_place_index<1>, std::move(error)) {}

    [[nodiscard]] bool ok() const noexcept { return content_.index() == 0; }
    explicit operator bool() const noexcept { return ok(); }
    [[nodiscard]] const T& value() const& { return *std::get_if<0>(&content_); }
    [[nodiscard]] T& value() & { return *std::get_if<0>(&content_); }
    [[nodiscard]] T&& value() && { return std::move(*std::get_if<0>(&content_)); }
    [[nodiscard]] const Error& error() const { return *std::get_if<1>(&content_); }

  private:
    std::variant<T, Error> content_;
};

template <>
class [[nodiscard]] Result<void> {
  public:
    Result() = default;
    Result(Error error) : error_(std::move(error)), ok_(false) {}

    [[nodiscard]] bool ok() const noexcept { return ok_; }
    explicit operator bool() const noexcept { return ok_; }
    [[nodiscard]] const Error& error() const { return error_; }

  private:
    Error error_;
    bool ok_ = true;
};

}  // namespace llmgw

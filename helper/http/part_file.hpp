// The part of a file that has come so far: NAME.part, and NAME.part.from, which says where from and what
// would show that the file there has changed meanwhile.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/result.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::http {

// What a server says of the version of a file that it sends; empty where it says nothing.
struct Validator {
    std::string etag;
    std::string last_modified;

    // For If-Range; empty where neither may be used for it: a weak ETag says nothing about bytes.
    [[nodiscard]] std::string condition() const;
    // Whether an answer that says `other` can be of the same version.
    [[nodiscard]] bool may_be(const Validator& other) const;
    bool operator==(const Validator&) const = default;
};

struct PartOf {
    std::string url;
    std::string identity;  // what the file is to become, such as its digest

    bool operator==(const PartOf&) const = default;
};

class PartFile {
  public:
    // Opens what is there of NAME in a directory that is root's alone, or makes it anew, empty, mode 0600. A
    // part of something else, a link, somebody else's file or one without a usable validator is not resumed
    // but begun again. Errors: internal.
    static Result<PartFile> open(int directory, const std::string& name, const PartOf& of);
    // Both files, if they are there.
    static void remove(int directory, const std::string& name);

    static std::string part_name(const std::string& name) { return name + ".part"; }
    static std::string note_name(const std::string& name) { return name + ".part.from"; }

    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    [[nodiscard]] std::uint64_t total() const noexcept { return total_; }  // 0: unknown
    [[nodiscard]] const Validator& validator() const noexcept { return validator_; }

    // Said by a later answer than the first.
    void know_total(std::uint64_t total) noexcept { total_ = total; }
    // Empties it for the first bytes of a version of the file. Errors as append().
    Result<void> restart(const Validator& validator, std::uint64_t total);
    // Errors: internal; full() then says whether the file system was the reason.
    Result<void> append(std::string_view bytes);
    [[nodiscard]] bool full() const noexcept { return full_; }

  private:
    PartFile(int directory, std::string name, PartOf of)
        : directory_(directory), name_(std::move(name)), of_(std::move(of)) {}
    Result<void> open_part();
    bool read_note();
    Result<void> write_note();
    Error failure(const std::string& what, const std::string& name, int error_number);

    int directory_;
    std::string name_;
    PartOf of_;
    Descriptor file_;
    std::uint64_t size_ = 0;
    std::uint64_t total_ = 0;
    Validator validator_;
    bool full_ = false;
};

}  // namespace llmgw::http

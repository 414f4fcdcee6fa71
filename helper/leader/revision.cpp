#include "leader/revision.hpp"

#include <charconv>

#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

constexpr std::size_t file_bytes = 32;
// Readers of JSON take no more than a signed 64-bit number; nobody gets there by counting.
constexpr std::uint64_t largest = INT64_MAX / 2;

}  // namespace

Result<Revision> Revision::open(std::string path, std::uint64_t stride) {
    const Result<std::string> text = read_file(path, file_bytes);
    if (!text && text.error().code == Code::missing) return Revision(std::move(path), stride, 0);
    if (!text) return text.error();
    std::uint64_t mark = 0;
    const char* const end = text.value().data() + text.value().size();
    const auto [stop, error] = std::from_chars(text.value().data(), end, mark);
    if (error != std::errc{} || std::string_view(stop, static_cast<std::size_t>(end - stop)) != "\n" ||
        mark > largest) {
        return Error{Code::invalid,
                     path +
                         " has no revision in it: write a number into it that is larger than any "
                         "that machines have seen (`llmgw-slurm status` shows theirs)"};
    }
    return Revision(std::move(path), stride, mark);
}

Result<void> Revision::raise() {
    if (value_ == mark_) {
        const std::uint64_t mark = mark_ + stride_;
        const Result<void> kept =
            write_file_atomically(path_, std::to_string(mark) + "\n", 0644, Durability::durable);
        if (!kept) return kept;
        mark_ = mark;
    }
    ++value_;
    return {};
}

}  // namespace llmgw::leader

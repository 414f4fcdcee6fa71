#include "http/part_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <optional>

#include "core/limits.hpp"
#include "core/state_text.hpp"
#include "core/text.hpp"
#include "posix/file.hpp"

namespace llmgw::http {
namespace {

constexpr std::string_view note_header = "llmgw-slurm-part 1";
// A note has a URL and two headers in it, each as long as this at most.
constexpr std::size_t note_bytes = 4 * limits::http_url_bytes;
constexpr int open_flags = O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;

// Ours alone: whoever else could have written it could make root write elsewhere, or mix bytes.
bool is_ours(int fd, std::uint64_t& size) {
    struct stat status {};
    if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) || status.st_uid != ::geteuid() ||
        status.st_nlink != 1 || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
        return false;
    size = static_cast<std::uint64_t>(status.st_size);
    return true;
}

std::optional<std::uint64_t> number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// What can't be written into the note, and read back as it was, is as good as not said.
std::string kept(const std::string& text) {
    return text == "-" || text.size() > limits::http_url_bytes || has_control_characters(text) ? "" : text;
}

}  // namespace

std::string Validator::condition() const {
    if (etag.starts_with('"')) return etag;
    return last_modified;
}

bool Validator::may_be(const Validator& other) const {
    const auto differ = [](const std::string& left, const std::string& right) {
        return !left.empty() && !right.empty() && left != right;
    };
    return !differ(etag, other.etag) && !differ(last_modified, other.last_modified);
}

Error PartFile::failure(const std::string& what, const std::string& name, int error_number) {
    full_ = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
    return {Code::internal, "cannot " + what + " " + name + ": " + reason_of(error_number)};
}

Result<PartFile> PartFile::open(int directory, const std::string& name, const PartOf& of) {
    PartFile part(directory, name, of);
    if (Result<void> opened = part.open_part(); !opened) return opened.error();
    if (part.size_ == 0 || part.read_note()) return part;
    if (Result<void> emptied = part.restart({}, 0); !emptied) return emptied.error();
    return part;
}

void PartFile::remove(int directory, const std::string& name) {
    ::unlinkat(directory, part_name(name).c_str(), 0);
    ::unlinkat(directory, note_name(name).c_str(), 0);
}

Result<void> PartFile::open_part() {
    const std::string name = part_name(name_);
    file_ = Descriptor(::openat(directory_, name.c_str(), O_RDWR | O_CREAT | open_flags, 0600));
    if (file_.open() && is_ours(file_.get(), size_)) return {};
    if (::unlinkat(directory_, name.c_str(), 0) != 0 && errno != ENOENT)
        return failure("replace", name, errno);
    file_ = Descriptor(::openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_EXCL | open_flags, 0600));
    if (!file_.open()) return failure("create", name, errno);
    size_ = 0;
    return {};
}

// True when the part can be gone on with.
bool PartFile::read_note() {
    const Descriptor file(::openat(directory_, note_name(name_).c_str(), O_RDONLY | open_flags));
    std::uint64_t note_size = 0;
    if (!file.open() || !is_ours(file.get(), note_size) || note_size > note_bytes) return false;
    std::array<char, note_bytes> text{};
    const ssize_t got = ::read(file.get(), text.data(), text.size());
    if (got <= 0) return false;
    const Result<StateFields> fields =
        parse_state_text({text.data(), static_cast<std::size_t>(got)}, note_header);
    if (!fields) return false;
    const auto field = [&](const char* key) {
        const Result<std::string> value = state_field(fields.value(), key);
        return value && value.value() != "-" ? value.value() : std::string();
    };
    const std::optional<std::uint64_t> total = number(field("total"));
    if (PartOf{field("url"), field("identity")} != of_ || !total || (*total > 0 && size_ > *total))
        return false;
    validator_ = {field("etag"), field("modified")};
    total_ = *total;
    return !validator_.condition().empty();
}

Result<void> PartFile::write_note() {
    const std::string name = note_name(name_);
    const std::string text = format_state_text(note_header, {{"url", of_.url},
                                                             {"identity", of_.identity},
                                                             {"etag", validator_.etag},
                                                             {"modified", validator_.last_modified},
                                                             {"total", std::to_string(total_)}});
    ::unlinkat(directory_, name.c_str(), 0);
    const Descriptor file(::openat(directory_, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | open_flags, 0600));
    if (!file.open()) return failure("create", name, errno);
    // A note that was cut is none: its last line is missing.
    const ssize_t written = ::write(file.get(), text.data(), text.size());
    if (written != static_cast<ssize_t>(text.size()))
        return failure("write", name, written < 0 ? errno : ENOSPC);
    return {};
}

Result<void> PartFile::restart(const Validator& validator, std::uint64_t total) {
    // The part is empty before the note says anything else about it.
    if (::ftruncate(file_.get(), 0) != 0) return failure("empty", part_name(name_), errno);
    size_ = 0;
    total_ = total;
    validator_ = {kept(validator.etag), kept(validator.last_modified)};
    return write_note();
}

Result<void> PartFile::append(std::string_view bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::pwrite(file_.get(), bytes.data(), bytes.size(), static_cast<off_t>(size_));
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failure("write", part_name(name_), errno);
        bytes.remove_prefix(static_cast<std::size_t>(written));
        size_ += static_cast<std::uint64_t>(written);
    }
    return {};
}

}  // namespace llmgw::http

#include "service/fetch_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>

#include "core/limits.hpp"
#include "http/download.hpp"
#include "http/part_file.hpp"
#include "posix/file.hpp"

namespace llmgw::service {
namespace {

using Clock = std::chrono::steady_clock;

std::string bytes_text(std::uint64_t bytes) {
    return std::to_string(bytes) + " bytes";
}

// Whether the rest of this file fits, beside what the others may still write.
Result<void> admit(const FileFetch& fetch, std::optional<std::uint64_t> missing) {
    FetchState& state = fetch.state;
    const std::lock_guard lock(state.room);
    const Result<std::uint64_t> room = fetch.cache.room();
    if (!room) return room.error();
    std::uint64_t others = 0;
    for (std::size_t i = 0; i < state.total.size(); ++i) {
        const std::uint64_t done = state.done[i];
        if (i != fetch.index && state.total[i] > done) others += state.total[i] - done;
    }
    const std::uint64_t needed = missing.value_or(0) + others + limits::download_margin_bytes;
    if (needed > room.value()) {
        return Error{Code::internal, "no room in " + fetch.cache.path() + " for it: " + bytes_text(needed) +
                                         " are needed there, of which " +
                                         bytes_text(limits::download_margin_bytes) +
                                         " stay free for others, and " + bytes_text(room.value()) +
                                         " are free: make room, and try again"};
    }
    // From now on it counts for the others.
    if (missing) state.total[fetch.index] = state.done[fetch.index] + *missing;
    return {};
}

Result<http::Downloaded> download(const FileFetch& fetch, const std::stop_token& stop) {
    http::Download what;
    what.url = fetch.origin.place;
    what.directory = fetch.cache.directory();
    what.name = fetch.file.name;
    what.identity = fetch.file.sha256;
    what.ca_file = fetch.options.ca_file;
    what.proxy = fetch.options.proxy;
    what.patience = fetch.options.patience;
    what.deadline = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(fetch.end - Clock::now()),
                             std::chrono::milliseconds(1));
    what.admit = [&fetch](std::optional<std::uint64_t> missing) { return admit(fetch, missing); };
    what.progress = [&fetch](std::uint64_t done, std::uint64_t total) {
        fetch.state.done[fetch.index] = done;
        fetch.state.total[fetch.index] = total;
    };
    return http::download(what, stop);
}

Error copy_failure(const std::string& what, const std::string& path, int error_number) {
    return {error_number == ENOENT ? Code::missing : Code::internal,
            "cannot " + what + " " + path + ": " + reason_of(error_number)};
}

// Of the mirror. Root follows nothing there: whoever may put files into it could have any file of this
// machine read and put aside.
Result<Descriptor> open_in_mirror(const FileFetch& fetch, std::uint64_t& size) {
    const std::string path = fetch.origin.text(fetch.file);
    const Descriptor directory(::open(fetch.origin.place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!directory.open()) return copy_failure("open the mirror's directory for", path, errno);
    Descriptor file(::openat(directory.get(), fetch.file.name.c_str(),
                             O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
    if (!file.open() && errno == ELOOP)
        return Error{Code::denied, path + " is a symbolic link: put the file itself into the mirror"};
    if (!file.open()) return copy_failure("open", path, errno);
    struct stat status {};
    if (::fstat(file.get(), &status) != 0) return copy_failure("look at", path, errno);
    if (!S_ISREG(status.st_mode)) return Error{Code::invalid, path + " is no plain file"};
    size = static_cast<std::uint64_t>(status.st_size);
    if (size > limits::download_bytes) {
        return Error{Code::too_large, path + " has " + bytes_text(size) + ", and no more than " +
                                          bytes_text(limits::download_bytes) + " are taken"};
    }
    return file;
}

Result<void> copy_into(http::PartFile& part, const Descriptor& source, const FileFetch& fetch,
                       const std::stop_token& stop) {
    const std::string path = fetch.origin.text(fetch.file);
    std::array<char, std::size_t{128} * 1024> buffer{};
    for (;;) {
        if (stop.stop_requested())
            return Error{Code::unavailable, "given up, since this program is stopping"};
        if (Clock::now() > fetch.end)
            return Error{Code::timeout, path + " isn't copied in time, only " + bytes_text(part.size())};
        const ssize_t got = ::read(source.get(), buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return copy_failure("read", path, errno);
        if (got == 0) return {};
        if (part.size() + static_cast<std::uint64_t>(got) > limits::download_bytes)
            return Error{Code::too_large, path + " grows and grows"};
        if (Result<void> written = part.append({buffer.data(), static_cast<std::size_t>(got)}); !written)
            return written;
        fetch.state.done[fetch.index] = part.size();
    }
}

Result<http::Downloaded> copy(const FileFetch& fetch, const std::stop_token& stop) {
    std::uint64_t size = 0;
    const Result<Descriptor> source = open_in_mirror(fetch, size);
    if (!source) return source.error();
    Result<http::PartFile> part = http::PartFile::open(fetch.cache.directory(), fetch.file.name,
                                                       {fetch.origin.text(fetch.file), fetch.file.sha256});
    if (!part) return part.error();
    Result<void> copied = part.value().restart({}, 0);
    if (copied) copied = admit(fetch, size);
    if (copied) copied = copy_into(part.value(), source.value(), fetch, stop);
    // There is nothing to go on with: the next copy begins again anyway.
    if (!copied) fetch.cache.discard_part(fetch.file);
    if (!copied) return copied.error();
    return http::Downloaded{part.value().size(), true};
}

Error wrong_digest(const FileFetch& fetch, const FileDigest& came) {
    return {Code::invalid, fetch.file.name + " from " + fetch.origin.text(fetch.file) +
                               " is not the pinned file: SHA-256 " + fetch.file.sha256 +
                               " was expected, and " + came.sha256 + " came, of " + bytes_text(came.size) +
                               "; it is kept as " + fetch.cache.path() + "/" + fetch.file.name +
                               ".rejected and not used: look at it, and correct the mirror, or the digest in "
                               "releases.json"};
}

}  // namespace

Result<void> fetch_file(const FileFetch& fetch, const std::stop_token& stop) {
    for (bool may_begin_again = true;; may_begin_again = false) {
        const Result<http::Downloaded> come = fetch.origin.local ? copy(fetch, stop) : download(fetch, stop);
        if (!come) return come.error().within(fetch.file.name);
        const Result<FileDigest> digest = fetch.cache.digest_of_part(fetch.file, stop);
        if (!digest) return digest.error().within(fetch.file.name);
        fetch.state.done[fetch.index] = fetch.state.total[fetch.index] = digest.value().size;
        if (digest.value().sha256 == fetch.file.sha256) return fetch.cache.publish(fetch.file);
        if (come.value().in_one_piece || !may_begin_again) {
            if (Result<void> aside = fetch.cache.reject(fetch.file); !aside) return aside;
            return wrong_digest(fetch, digest.value());
        }
        // Put together of pieces, whether by an earlier call, of two versions, or before a crash: that says
        // nothing about what the server has. Once more, from the first byte.
        fetch.cache.discard_part(fetch.file);
        fetch.state.done[fetch.index] = 0;
    }
}

}  // namespace llmgw::service

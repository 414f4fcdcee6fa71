#include "daemon/mailbox.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>

#include "posix/file.hpp"

namespace llmgw::daemon {

Result<std::unique_ptr<Mailbox>> Mailbox::create() {
    Descriptor event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!event.open()) return Error{Code::internal, "cannot make an eventfd: " + reason_of(errno)};
    return std::unique_ptr<Mailbox>(new Mailbox(std::move(event)));
}

void Mailbox::post(std::function<void()> letter) {
    {
        const std::lock_guard lock(mutex_);
        letters_.push_back(std::move(letter));
    }
    // Can only fail when the counter is full, and then the loop is awake already.
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void Mailbox::deliver() {
    std::uint64_t count = 0;
    [[maybe_unused]] const ssize_t got = ::read(event_.get(), &count, sizeof count);
    std::vector<std::function<void()>> letters;
    {
        const std::lock_guard lock(mutex_);
        letters.swap(letters_);
    }
    for (const std::function<void()>& letter : letters) letter();
}

}  // namespace llmgw::daemon

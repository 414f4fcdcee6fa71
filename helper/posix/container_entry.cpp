#include "posix/container_entry.hpp"

#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "posix/file.hpp"
#include "posix/held_process.hpp"

namespace llmgw {
namespace {

Error none_of_yours(const ContainerProcess& container) {
    return {Code::denied, "process " + std::to_string(container.process) + " is in no container of yours"};
}

Error failure(const char* what) {
    return {Code::internal, std::string("cannot join the container's ") + what + ": " + reason_of(errno)};
}

// The namespaces are those of a container, and not the ones in which this process is.
Result<void> check(const ContainerProcess& container, const OpenContainer& opened) {
    const Result<HeldProcess> self = HeldProcess::open(::getpid());
    const Result<Descriptor> ours = self ? self.value().open_namespace("user") : self.error();
    if (!ours) return ours.error();
    const std::uint64_t number = namespace_number(opened.users.get());
    const Descriptor owner = owning_namespace(opened.mounts.get());
    if (number == namespace_number(ours.value().get()) || !owner.open() ||
        namespace_number(owner.get()) != number) {
        return none_of_yours(container);
    }
    return {};
}

}  // namespace

Result<OpenContainer> open_container(const ContainerProcess& container) {
    const Result<HeldProcess> held = HeldProcess::open(container.process);
    if (!held) return held.error();
    // All that follows is of the process that was held, whatever becomes of its number.
    const Result<std::uint64_t> started = held.value().started();
    if (!started) return started.error();
    if (started.value() != container.started) {
        return Error{Code::missing,
                     "process " + std::to_string(container.process) + " is another one by now"};
    }
    const Result<uid_t> user = held.value().user();
    if (!user && user.error().code == Code::missing) return user.error();
    if (!user || user.value() != ::getuid()) return none_of_yours(container);
    Result<Descriptor> users = held.value().open_namespace("user");
    if (!users) return users.error();
    Result<Descriptor> mounts = held.value().open_namespace("mnt");
    if (!mounts) return mounts.error();
    OpenContainer opened{"", std::move(users).value(), std::move(mounts).value()};
    if (Result<void> checked = check(container, opened); !checked) return checked.error();
    if (Result<std::string> environment = held.value().environment(); environment) {
        opened.environment = std::move(environment).value();
    }
    return opened;
}

Entry enter(const OpenContainer& container) {
    // The user namespace gives the right to the other.
    if (::setns(container.users.get(), CLONE_NEWUSER) != 0) return {failure("user namespace"), false};
    if (::setns(container.mounts.get(), CLONE_NEWNS) != 0) return {failure("mounts"), true};
    return {};
}

}  // namespace llmgw

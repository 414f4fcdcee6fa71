// The other end of a step's socket, with the answers that a test wants.
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "core/extern_step.hpp"
#include "posix/descriptor.hpp"

namespace llmgw::fake {

class Slurmstepd {
  public:
    struct Answers {
        std::int32_t protocol = 9984;
        std::int32_t uid = 0;
        std::int32_t adopt = 0;  // 99: the library ends its process
        std::int32_t namespaces = 0;
        bool silent = false;
    };

    Slurmstepd(const std::string& directory, std::uint32_t job, Answers answers)
        : step_{directory, "n1", job, job},
          answers_(answers),
          socket_(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        step_.socket().copy(address.sun_path, sizeof address.sun_path - 1);
        ::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
        ::listen(socket_.get(), 16);
        thread_ = std::thread([this] { serve(); });
    }
    ~Slurmstepd() {
        over_ = true;
        thread_.join();
    }
    Slurmstepd(const Slurmstepd&) = delete;
    Slurmstepd& operator=(const Slurmstepd&) = delete;

    [[nodiscard]] const ExternStep& step() const { return step_; }
    [[nodiscard]] std::int32_t adopted() const { return adopted_; }
    [[nodiscard]] int asked() const { return asked_; }

  private:
    void serve() {
        std::vector<Descriptor> clients;
        while (!over_) {
            std::vector<pollfd> waiting{{socket_.get(), POLLIN, 0}};
            for (const Descriptor& client : clients) waiting.push_back({client.get(), POLLIN, 0});
            ::poll(waiting.data(), waiting.size(), 10);
            for (std::size_t i = clients.size(); i > 0; --i) {
                if (waiting[i].revents != 0 && !answer(clients[i - 1].get())) {
                    clients.erase(clients.begin() + static_cast<std::ptrdiff_t>(i) - 1);
                }
            }
            if (waiting[0].revents != 0) {
                clients.emplace_back(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
            }
        }
    }
    bool answer(int client) {
        char what = 0;
        std::int32_t number = 0;
        if (::read(client, &what, 1) != 1 || ::read(client, &number, sizeof number) != sizeof number)
            return false;
        ++asked_;
        if (answers_.silent) return true;
        if (what == 'a') adopted_ = number;
        const std::int32_t reply = what == 'p'   ? answers_.protocol
                                   : what == 'u' ? answers_.uid
                                   : what == 'a' ? answers_.adopt
                                                 : answers_.namespaces;
        return ::write(client, &reply, sizeof reply) == sizeof reply;
    }

    ExternStep step_;
    Answers answers_;
    Descriptor socket_;
    std::atomic<bool> over_ = false;
    std::atomic<std::int32_t> adopted_ = 0;
    std::atomic<int> asked_ = 0;
    std::thread thread_;
};

}  // namespace llmgw::fake

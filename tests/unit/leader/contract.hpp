// Every exchange with a leader is held against docs/contract.openapi.yaml, by tests/check-contract in a
// process of its own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <mutex>
#include <string>

#include "http/client.hpp"
#include "json/dump.hpp"

namespace llmgw::test {

class Contract {
  public:
    // Empty, or what the contract doesn't know about this.
    static std::string violation(const http::Request& request, const http::Response& response) {
        static Contract contract;
        Value headers{Value::Object{}};
        for (const auto& [name, value] : response.headers) headers.set(name, value);
        Value exchange;
        const std::size_t host = request.url.find("://") + 3;
        exchange.set("method", request.method).set("target", request.url.substr(request.url.find('/', host)));
        exchange.set("request", request.body).set("status", response.status);
        exchange.set("headers", headers).set("answer", response.body);
        return contract.ask(json::dump(exchange));
    }

  private:
    Contract() {
        std::array<int, 2> to{};
        std::array<int, 2> from{};
        if (::pipe2(to.data(), O_CLOEXEC) != 0 || ::pipe2(from.data(), O_CLOEXEC) != 0) return;
        // As nobody's child: other tests look whether they have any left.
        std::string setsid = "/usr/bin/setsid";
        std::string fork = "--fork";
        std::string program = LLMGW_SOURCE_DIR "/tests/check-contract";
        std::string document = LLMGW_SOURCE_DIR "/docs/contract.openapi.yaml";
        std::array<char*, 5> arguments{setsid.data(), fork.data(), program.data(), document.data(), nullptr};
        posix_spawn_file_actions_t actions;
        ::posix_spawn_file_actions_init(&actions);
        ::posix_spawn_file_actions_adddup2(&actions, to[0], STDIN_FILENO);
        ::posix_spawn_file_actions_adddup2(&actions, from[1], STDOUT_FILENO);
        pid_t child = -1;
        started_ = ::posix_spawn(&child, setsid.c_str(), &actions, nullptr, arguments.data(), environ) == 0 &&
                   ::waitpid(child, nullptr, 0) == child;
        ::posix_spawn_file_actions_destroy(&actions);
        ::close(to[0]);
        ::close(from[1]);
        to_ = ::fdopen(to[1], "w");
        from_ = ::fdopen(from[0], "r");
    }
    ~Contract() {
        if (to_ != nullptr) ::fclose(to_);
        if (from_ != nullptr) ::fclose(from_);
    }

    std::string ask(const std::string& line) {
        const std::lock_guard lock(mutex_);
        const bool sent = started_ && std::fputs((line + "\n").c_str(), to_) >= 0 && std::fflush(to_) == 0;
        std::string verdict;
        int c = EOF;
        while (sent && (c = std::fgetc(from_)) != EOF && c != '\n') verdict += static_cast<char>(c);
        return c == EOF ? "tests/check-contract does not run: tests/lib/packages.sh packages" : verdict;
    }

    std::mutex mutex_;
    bool started_ = false;
    FILE* to_ = nullptr;
    FILE* from_ = nullptr;
};

}  // namespace llmgw::test

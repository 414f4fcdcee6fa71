// Another process that holds a lock until it is told to let go.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>

namespace llmgw::packages {

class LockKeeper {
  public:
    enum class Kind { fcntl, pid_file };

    explicit LockKeeper(const std::string& path, Kind kind = Kind::fcntl) {
        std::array<int, 2> ready{};
        if (::pipe(ready.data()) != 0) return;
        process_ = ::fork();
        if (process_ == 0) hold(path, kind, ready[1]);
        ::close(ready[1]);
        char word = 0;
        holds_ = ::read(ready[0], &word, 1) == 1;
        ::close(ready[0]);
        path_ = kind == Kind::pid_file ? path : "";
    }
    ~LockKeeper() { let_go(); }
    LockKeeper(const LockKeeper&) = delete;
    LockKeeper& operator=(const LockKeeper&) = delete;

    void let_go() {
        if (process_ <= 0) return;
        if (!path_.empty()) ::unlink(path_.c_str());
        ::kill(process_, SIGKILL);
        ::waitpid(process_, nullptr, 0);
        process_ = 0;
    }
    [[nodiscard]] bool holds() const { return holds_; }
    [[nodiscard]] pid_t process() const { return process_; }

  private:
    [[noreturn]] static void hold(const std::string& path, Kind kind, int ready) {
        const int file = ::open(path.c_str(), O_RDWR | O_CREAT, 0640);
        bool fine = file >= 0;
        if (kind == Kind::pid_file) {
            const std::string number = std::to_string(::getpid());
            fine = fine && ::write(file, number.data(), number.size()) == static_cast<ssize_t>(number.size());
        } else {
            struct flock lock {};
            lock.l_type = F_WRLCK;
            lock.l_whence = SEEK_SET;
            fine = fine && ::fcntl(file, F_SETLK, &lock) == 0;
        }
        if (fine && ::write(ready, "r", 1) == 1) ::pause();
        ::_exit(1);
    }

    pid_t process_ = 0;
    bool holds_ = false;
    std::string path_;
};

}  // namespace llmgw::packages

// How long PAM's account phase takes with each of several modules, in turns: login_load ROUNDS USER LINE... prints for
// each line of PAM's the milliseconds of every round. Each login is a process of its own, as sshd's are, and the module is
// loaded before the clock starts, as sshd does at pam_start.
#include <security/pam_appl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace {

int keep_quiet(int count, const pam_message**, pam_response** answers, void*) {
    *answers = static_cast<pam_response*>(std::calloc(static_cast<std::size_t>(count), sizeof(pam_response)));
    return PAM_SUCCESS;
}

// In a child: the result's code and the milliseconds go to `out`.
void log_in(const std::string& directory, const char* user, int out) {
    const pam_conv conversation{keep_quiet, nullptr};
    pam_handle_t* pam = nullptr;
    if (pam_start_confdir("sshd", user, &conversation, directory.c_str(), &pam) != PAM_SUCCESS) return;
    const auto begin = std::chrono::steady_clock::now();
    const int code = pam_acct_mgmt(pam, PAM_SILENT);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    ::dprintf(out, "%d %.3f", code, took.count());
    pam_end(pam, code);
}

std::string one_login(const std::string& directory, const char* user) {
    int ends[2];
    if (::pipe(ends) != 0) return "";
    const pid_t child = ::fork();
    if (child == 0) {
        ::close(ends[0]);
        log_in(directory, user, ends[1]);
        ::_exit(0);
    }
    ::close(ends[1]);
    char text[64] = "";
    const ssize_t got = ::read(ends[0], text, sizeof text - 1);
    ::close(ends[0]);
    ::waitpid(child, nullptr, 0);
    return got > 0 ? std::string(text, static_cast<std::size_t>(got)) : "";
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fputs("usage: login_load ROUNDS USER LINE...\n", stderr);
        return 2;
    }
    std::string place = (std::filesystem::temp_directory_path() / "login-load-XXXXXX").string();
    if (::mkdtemp(place.data()) == nullptr) return 1;
    std::vector<std::string> directories;
    for (int i = 3; i < argc; ++i) {
        directories.push_back(place + "/" + std::to_string(i));
        std::filesystem::create_directory(directories.back());
        std::ofstream(directories.back() + "/sshd") << "account required " << argv[i] << "\n";
    }
    for (int round = 0; round < std::atoi(argv[1]); ++round) {
        for (std::size_t i = 0; i < directories.size(); ++i) {
            std::printf("%zu %s\n", i, one_login(directories[i], argv[2]).c_str());
        }
    }
    std::filesystem::remove_all(place);
}

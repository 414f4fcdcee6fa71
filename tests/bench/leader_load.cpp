// A leader with many nodes, as its helpers use it: each has a long poll for the settings and one for its
// lease, and reports. How long news takes to reach all of them, and what that costs the leader.
//   leader_load LEADER_PROGRAM [NODES]
#include <curl/curl.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "json/load.hpp"
#include "posix/descriptor.hpp"
#include "posix/events.hpp"
#include "posix/launch.hpp"

namespace {

using namespace llmgw;
using Clock = std::chrono::steady_clock;

constexpr long poll_seconds = 60;
constexpr std::chrono::seconds patience{120};

[[noreturn]] void give_up(const std::string& why) {
    std::fprintf(stderr, "leader_load: %s\n", why.c_str());
    std::exit(1);
}

std::string text_in(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

double seconds_since(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The leader as a process of its own, so that its time and memory are its own.
class LeaderProcess {
  public:
    LeaderProcess(const std::string& program, const std::string& directory) : directory_(directory) {
        std::ofstream(directory + "/settings.json")
            << R"({"enabled":true,"controller":"c","all_nodes":true})";
        log_ = Descriptor(::open((directory + "/log").c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        Launch start;
        start.argv = {program, "--directory", directory, "--listen", "127.0.0.1:0"};
        start.output = log_.get();
        const Result<pid_t> started = launch(start);
        if (!started) give_up(started.error().message);
        pid_ = started.value();
        const Clock::time_point begin = Clock::now();
        for (std::size_t at = std::string::npos; at == std::string::npos; ::usleep(1000)) {
            const std::string log = text_in(directory + "/log");
            at = log.find("http://");
            if (at != std::string::npos) url_ = log.substr(at, log.find('\n', at) - at) + "/slurm/v1/";
            if (Clock::now() - begin > patience) give_up("the leader does not start: " + log);
        }
    }
    ~LeaderProcess() {
        ::kill(pid_, SIGTERM);
        bury(pid_);
    }
    LeaderProcess(const LeaderProcess&) = delete;
    LeaderProcess& operator=(const LeaderProcess&) = delete;

    [[nodiscard]] const std::string& url() const { return url_; }
    [[nodiscard]] std::string token(const std::string& kind) const {
        const std::string token = text_in(directory_ + "/token." + kind);
        return token.substr(0, token.find('\n'));
    }
    [[nodiscard]] double cpu_seconds() const {
        const std::string stat = text_in("/proc/" + std::to_string(pid_) + "/stat");
        std::istringstream fields(stat.substr(stat.rfind(')') + 2));
        std::string skipped;
        for (int i = 0; i < 11; ++i) fields >> skipped;
        double user = 0;
        double system = 0;
        fields >> user >> system;
        return (user + system) / static_cast<double>(::sysconf(_SC_CLK_TCK));
    }
    [[nodiscard]] long peak_kb() const {
        const std::string status = text_in("/proc/" + std::to_string(pid_) + "/status");
        const std::size_t at = status.find("VmHWM:");
        return at == std::string::npos ? 0 : std::strtol(status.c_str() + at + 6, nullptr, 10);
    }

  private:
    std::string directory_;
    Descriptor log_;
    pid_t pid_ = -1;
    std::string url_;
};

struct Request {
    std::string method = "GET";
    std::string target;
    std::string body;
    std::string token;
    std::string seen;  // a revision; empty: no long poll
};

// One connection, one request at a time.
class Connection {
  public:
    Connection() : easy_(curl_easy_init()) {
        curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, &Connection::take);
        curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
        curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
    }
    ~Connection() {
        curl_slist_free_all(headers_);
        curl_easy_cleanup(easy_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    CURL* prepare(const std::string& url, Request request) {
        request_ = std::move(request);
        answer_.clear();
        curl_slist_free_all(headers_);
        headers_ = curl_slist_append(nullptr, ("Authorization: Bearer " + request_.token).c_str());
        headers_ = curl_slist_append(headers_, "Content-Type: application/json");
        headers_ = curl_slist_append(headers_, "Expect:");
        std::string whole = url + request_.target;
        if (!request_.seen.empty()) {
            headers_ = curl_slist_append(headers_, ("If-None-Match: \"" + request_.seen + "\"").c_str());
            whole += "?wait=" + std::to_string(poll_seconds);
        }
        curl_easy_setopt(easy_, CURLOPT_URL, whole.c_str());
        curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, headers_);
        curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
        if (request_.body.empty()) {
            curl_easy_setopt(easy_, CURLOPT_HTTPGET, 1L);
        } else {
            curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE, static_cast<long>(request_.body.size()));
            curl_easy_setopt(easy_, CURLOPT_POSTFIELDS, request_.body.c_str());
        }
        curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
        return easy_;
    }
    // Of the answer that came.
    [[nodiscard]] std::string revision() const {
        const Result<Value> value = json::parse(answer_);
        const Value* const revision = value ? value.value().find("revision") : nullptr;
        if (revision == nullptr || revision->integer() == nullptr) give_up("no revision in " + answer_);
        return std::to_string(*revision->integer());
    }
    [[nodiscard]] const std::string& answer() const { return answer_; }
    void expect_success() const {
        long status = 0;
        curl_easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &status);
        if (status != 200)
            give_up(request_.method + " " + request_.target + ": " + std::to_string(status) + " " + answer_);
    }

  private:
    static std::size_t take(char* data, std::size_t, std::size_t size, void* self) {
        static_cast<Connection*>(self)->answer_.append(data, size);
        return size;
    }
    CURL* easy_;
    curl_slist* headers_ = nullptr;
    Request request_;
    std::string answer_;
};

class Nodes {
  public:
    explicit Nodes(const LeaderProcess& leader) : leader_(leader), multi_(curl_multi_init()) {
        curl_multi_setopt(multi_, CURLMOPT_MAXCONNECTS, 20000L);
    }
    ~Nodes() { curl_multi_cleanup(multi_); }
    Nodes(const Nodes&) = delete;
    Nodes& operator=(const Nodes&) = delete;

    void begin(Connection& connection, Request request) {
        curl_multi_add_handle(multi_, connection.prepare(leader_.url(), std::move(request)));
        ++open_;
    }
    // Until only `left` requests are without their answer, which must all be good.
    void await(int left) {
        const Clock::time_point begin = Clock::now();
        while (open_ > left) {
            turn();
            if (Clock::now() - begin > patience)
                give_up(std::to_string(open_ - left) + " answers don't come");
        }
    }
    // Lets requests leave whose answers are not due yet.
    void settle() {
        const Clock::time_point begin = Clock::now();
        while (Clock::now() - begin < std::chrono::seconds(2)) turn();
    }

  private:
    void turn() {
        int running = 0;
        curl_multi_perform(multi_, &running);
        int queued = 0;
        while (const CURLMsg* const message = curl_multi_info_read(multi_, &queued)) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL* const easy = message->easy_handle;
            if (message->data.result != CURLE_OK) give_up(curl_easy_strerror(message->data.result));
            Connection* connection = nullptr;
            curl_easy_getinfo(easy, CURLINFO_PRIVATE, &connection);
            connection->expect_success();
            curl_multi_remove_handle(multi_, easy);
            --open_;
        }
        curl_multi_poll(multi_, nullptr, 0, 10, nullptr);
    }
    const LeaderProcess& leader_;
    CURLM* multi_;
    int open_ = 0;
};

class Phase {
  public:
    Phase(const LeaderProcess& leader, std::string what)
        : leader_(leader), what_(std::move(what)), cpu_(leader.cpu_seconds()) {}
    ~Phase() {
        std::printf("%-62s %8.3f s   leader's CPU %6.2f s   peak %6.1f MB\n", what_.c_str(),
                    seconds_since(begin_), leader_.cpu_seconds() - cpu_,
                    static_cast<double>(leader_.peak_kb()) / 1024);
        std::fflush(stdout);
    }
    Phase(const Phase&) = delete;
    Phase& operator=(const Phase&) = delete;

  private:
    const LeaderProcess& leader_;
    std::string what_;
    double cpu_;
    Clock::time_point begin_ = Clock::now();
};

std::string name_of(int node) {
    return "n" + std::to_string(node);
}

std::string report_of(const std::string& name) {
    return R"({"name":")" + name +
           R"(","state":"ready","reason":"pyxis 0.24.0, enroot 4.2.1","versions":{"enroot":"4.2.1","pyxis":"0.24.0","slurm":"24.11.5"},)"
           R"("boot":"6f0e2a3c-9c1d-4c1e-8b54-1d1f0f3b7a10","helper":"0.1.0","hardware":{"cpus":128,"boards":1,"sockets_per_board":2,)"
           R"("cores_per_socket":32,"threads_per_core":2,"memory_mb":1031000,"gpus":[0,1,2,3,4,5,6,7]},)"
           R"("lending":{"phase":"gateway","generation":1,"since":1700000000,"waiting":[],"fence":true}})";
}

void measure(const LeaderProcess& leader, int count) {
    const std::string machine = leader.token("machine");
    const std::string of = std::to_string(count) + " nodes: ";
    Nodes nodes(leader);
    std::vector<std::unique_ptr<Connection>> settings;
    std::vector<std::unique_ptr<Connection>> leases;
    std::vector<std::unique_ptr<Connection>> actions;
    for (int i = 0; i < count; ++i) {
        for (auto* const list : {&settings, &leases, &actions})
            list->push_back(std::make_unique<Connection>());
    }
    const auto at = [](const auto& list, int node) -> Connection& {
        return *list[static_cast<std::size_t>(node)];
    };
    {
        const Phase phase(leader, of + "first reports, each kept on the disk");
        for (int i = 0; i < count; ++i)
            nodes.begin(at(actions, i),
                        {"PUT", "machines/" + name_of(i), report_of(name_of(i)), machine, ""});
        nodes.await(0);
    }
    {
        const Phase phase(leader, of + "settings and lease, at once");
        for (int i = 0; i < count; ++i) {
            nodes.begin(at(settings, i), {"GET", "settings", "", machine, ""});
            nodes.begin(at(leases, i), {"GET", "nodes/" + name_of(i) + "/lease", "", machine, ""});
        }
        nodes.await(0);
    }
    for (int i = 0; i < count; ++i) {
        const std::string seen = at(settings, i).revision();
        nodes.begin(at(settings, i), {"GET", "settings", "", machine, seen});
        const std::string seen_lease = at(leases, i).revision();
        nodes.begin(at(leases, i), {"GET", "nodes/" + name_of(i) + "/lease", "", machine, seen_lease});
    }
    nodes.settle();
    Connection admin;
    std::string names;
    for (int i = 0; i < count; ++i) names += (i > 0 ? ",\"" : "\"") + name_of(i) + "\"";
    {
        const Phase phase(leader, of + "from a change of settings until all have it");
        nodes.begin(admin,
                    {"PATCH", "settings", R"({"lent":{"add":[)" + names + "]}}", leader.token("admin"), ""});
        nodes.await(count);
    }
    {
        const Phase phase(leader, of + "all ask for themselves, until each poll says free");
        for (int i = 0; i < count; ++i) {
            nodes.begin(at(actions, i), {"POST", "nodes/" + name_of(i) + "/lease",
                                         R"({"lease":"l","generation":1})", machine, ""});
        }
        nodes.await(0);
        for (int i = 0; i < count; ++i) {
            if (at(leases, i).answer().find(R"("state":"free")") == std::string::npos)
                give_up("not free: " + at(leases, i).answer());
        }
    }
    {
        const Phase phase(leader, of + "reports that say the same again");
        for (int i = 0; i < count; ++i)
            nodes.begin(at(actions, i),
                        {"PUT", "machines/" + name_of(i), report_of(name_of(i)), machine, ""});
        nodes.await(0);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const int count = argc > 2 ? std::atoi(argv[2]) : 1000;
    if (argc < 2 || count < 1) {
        std::fprintf(stderr, "usage: leader_load LEADER_PROGRAM [NODES]\n");
        return 2;
    }
    allow_all_open_files();
    curl_global_init(CURL_GLOBAL_DEFAULT);
    std::string directory = (std::filesystem::temp_directory_path() / "llmgw-bench-XXXXXX").string();
    if (::mkdtemp(directory.data()) == nullptr) give_up("cannot make a directory");
    {
        const LeaderProcess leader(std::filesystem::absolute(argv[1]).string(), directory);
        measure(leader, count);
    }
    std::filesystem::remove_all(directory);
    return 0;
}

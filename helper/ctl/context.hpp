// What the subcommands of llmgw-slurm share. Each has a file of its own with one add_xxx(), called in
// main.cpp.
#pragma once

#include <istream>
#include <ostream>
#include <string>

namespace CLI {
class App;
}

namespace llmgw::ctl {

// Exit codes, the same for every subcommand.
inline constexpr int exit_fine = 0;
inline constexpr int exit_failed = 1;  // done, and the answer is no
inline constexpr int exit_usage =
    2;  // not even tried: wrong arguments, or a file that can't be read or written

// Streams are passed in, so that tests need no process.
struct Context {
    std::istream& in;
    std::ostream& out;
    std::ostream& err;
    int exit_code = exit_fine;  // set by the subcommand that ran
    bool terminal = false;      // `out` is one
    // Where this machine's helper is; the bus empty: the system's.
    std::string bus_address = {};
    std::string bus_name = "org.llmgw.Slurm1";
};

// Each adds its subcommand to `app`; what it does runs inside app.parse(). `context` must outlive `app`.
void add_check(CLI::App& app, Context& context);
void add_status(CLI::App& app, Context& context);
void add_containers(CLI::App& app, Context& context);
void add_gate(CLI::App& app, Context& context);
void add_recheck(CLI::App& app, Context& context);
void add_lend(CLI::App& app, Context& context);
void add_reclaim(CLI::App& app, Context& context);
void add_fence(CLI::App& app, Context& context);
void add_plan(CLI::App& app, Context& context);
void add_doctor(CLI::App& app, Context& context);
void add_apply(CLI::App& app, Context& context);
void add_uninstall(CLI::App& app, Context& context);

// All arguments of a call, the program's name first -> exit code. Everything is caught and said in
// `context.err`.
int run(int argc, const char* const* argv, Context& context);

}  // namespace llmgw::ctl

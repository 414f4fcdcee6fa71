#include <CLI/CLI.hpp>
#include <exception>

#include "ctl/context.hpp"

namespace llmgw::ctl {

int run(int argc, const char* const* argv, Context& context) {
    try {
        CLI::App app{"GPU nodes shared between llmgw and Slurm", "llmgw-slurm"};
        app.set_version_flag("--version", "llmgw-slurm " LLMGW_VERSION);
        app.require_subcommand(1);
        app.failure_message(CLI::FailureMessage::simple);
        app.add_option("--bus-address", context.bus_address, "another bus than the system's");
        app.add_option("--bus-name", context.bus_name, "the helper's name there")->capture_default_str();
        app.fallthrough();  // these two may also stand behind the subcommand
        add_check(app, context);
        add_status(app, context);
        add_containers(app, context);
        add_gate(app, context);
        add_recheck(app, context);
        add_lend(app, context);
        add_reclaim(app, context);
        add_fence(app, context);
        add_plan(app, context);
        add_apply(app, context);
        add_doctor(app, context);
        add_uninstall(app, context);
        try {
            app.parse(argc, argv);
        } catch (const CLI::ParseError& error) {
            // Asking for help or the version is no failure; CLI11 has codes of its own for everything else.
            return app.exit(error, context.out, context.err) == 0 ? exit_fine : exit_usage;
        }
        if (!context.out.flush()) {
            // A full disk or a closed pipe: half an answer must not pass for one.
            context.err << "llmgw-slurm: standard output can't be written: look at where it goes\n";
            return exit_usage;
        }
        return context.exit_code;
    } catch (const std::exception& error) {
        context.err << "llmgw-slurm: " << error.what() << '\n';
        return exit_usage;
    }
}

}  // namespace llmgw::ctl

// llmgw-slurm check: is this settings file fine, and what does it mean? Needs no helper, no leader and no
// root.
#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/accounts.hpp"
#include "core/limits.hpp"
#include "core/login.hpp"
#include "core/names.hpp"
#include "core/settings_resolve.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "ctl/context.hpp"
#include "ctl/settings_text.hpp"
#include "json/accounts_json.hpp"
#include "json/dump.hpp"
#include "json/settings_json.hpp"
#include "posix/file.hpp"

namespace llmgw::ctl {

namespace {

struct Arguments {
    std::string file;
    std::optional<std::string> machines;
    bool json = false;
    bool accounts = false;
};

// One byte more than is allowed is enough for the reader to see that there is too much.
std::string read_stream(std::istream& in, std::size_t most) {
    std::string text(most + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    return text;
}

Result<std::vector<std::string>> names_in(const std::string& list) {
    std::vector<std::string> names;
    for (const std::string_view piece : split(list, ',')) {
        const std::string_view name = trimmed(piece);
        if (!is_name(name)) {
            return Error{Code::invalid, "--machines: " + shown(name) +
                                            " is no name of a machine: use names " +
                                            "separated by commas, each " + std::string(name_rule)};
        }
        names.emplace_back(name);
    }
    return names;
}

int usage_error(Context& context, const std::string& message) {
    context.err << "llmgw-slurm check: " << printable(message, limits::message_bytes) << '\n';
    return exit_usage;
}

int refuse(const Arguments& arguments, const std::vector<SettingError>& errors, Context& context) {
    const std::string file = printable(arguments.file, limits::message_bytes);
    for (const SettingError& error : errors) {
        // FILE:LINE:COLUMN: as compilers write it, so that editors jump there; a key is no place.
        const bool is_place = error.key.empty() && error.line > 0;
        context.err << file << (is_place ? ":" : ": ") << json::text_of(error) << '\n';
    }
    if (arguments.json) context.out << json::dump(json::to_value(errors), json::Layout::indented);
    return exit_failed;
}

std::string with_logins(const std::vector<Account>& accounts) {
    std::vector<LoginOwner> owners;
    for (const Account& account : accounts) owners.push_back({account.email, account.uid});
    const std::vector<std::string> logins = logins_of(owners);
    std::string text;
    for (std::size_t i = 0; i < accounts.size(); ++i) {
        text += std::to_string(accounts[i].uid) + "  " + logins[i] + "  " + printable(accounts[i].email) +
                (accounts[i].active ? "" : "  inactive") + "\n";
    }
    return text;
}

int check_accounts(const Arguments& arguments, const std::string& text, Context& context) {
    const ReadAccounts read = json::read_accounts_text(text);
    if (!read.ok()) return refuse(arguments, read.errors, context);
    context.out << (arguments.json ? json::dump(value_of(read.accounts), json::Layout::indented)
                                   : with_logins(read.accounts));
    return exit_fine;
}

int check(const Arguments& arguments, Context& context) {
    if (arguments.accounts) {
        const Result<std::string> text = arguments.file == "-"
                                             ? read_stream(context.in, limits::accounts_bytes)
                                             : read_file(arguments.file, limits::accounts_bytes);
        if (!text)
            return usage_error(context,
                               text.error().message + ": give a file you may read, or - for standard input");
        return check_accounts(arguments, text.value(), context);
    }
    const auto machines = names_in(arguments.machines.value_or(""));
    if (!machines.ok()) return usage_error(context, machines.error().message);

    json::ReadSettings read;
    if (arguments.file == "-") {
        const std::string text = read_stream(context.in, limits::settings_bytes);
        if (context.in.bad())
            return usage_error(context, "standard input can't be read: give a file instead of -");
        read = json::read_settings_text(text);
    } else {
        const auto text = read_file(arguments.file, limits::settings_bytes);
        if (!text.ok() && text.error().code != Code::too_large) {
            return usage_error(context,
                               text.error().message + ": give a file you may read, or - for standard input");
        }
        // Too much to be settings is a fault of the file's, not of who calls.
        read =
            json::read_settings_text(text.ok() ? text.value() : std::string(limits::settings_bytes + 1, ' '));
    }
    if (!read.ok()) return refuse(arguments, read.errors, context);

    const ResolvedSettings resolved = resolve_settings(read.settings, machines.value());
    if (arguments.json) {
        context.out << json::dump(json::to_value(resolved), json::Layout::indented);
    } else {
        context.out << text_of(resolved, arguments.machines.has_value());
    }
    return exit_fine;
}

}  // namespace

void add_check(CLI::App& app, Context& context) {
    CLI::App* command = app.add_subcommand("check", "Check a settings file and show what it means");
    const auto arguments = std::make_shared<Arguments>();
    command->add_option("FILE", arguments->file, "The settings, JSON; - for standard input")->required();
    command->add_option("--machines", arguments->machines,
                        "Names of the machines that the leader knows, separated by commas (for all_nodes)");
    command->add_flag("--accounts", arguments->accounts,
                      "FILE is the embedded leader's accounts.json: check it and show each account's login");
    command->add_flag("--json", arguments->json, "Write the result or the errors as JSON to standard output");
    command->footer(
        "Exit status: 0 the settings are fine, 1 they are not (one line for each error on standard error),\n"
        "2 wrong arguments or the file can't be read. Nothing is changed. See llmgw-slurm(1).");
    command->callback([arguments, &context] { context.exit_code = check(*arguments, context); });
}

}  // namespace llmgw::ctl

#include "leader/site_commands.hpp"

#include <algorithm>
#include <array>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "core/text.hpp"
#include "json/load.hpp"
#include "posix/file.hpp"

namespace llmgw::leader {
namespace {

constexpr std::string_view placeholder = "{node}";

Error wrong(std::string message) {
    return {Code::invalid, std::move(message)};
}

Result<std::vector<std::string>> argv_of(const std::string& key, const Value& value) {
    if (value.array() == nullptr || value.array()->empty())
        return wrong(key + ": a program and its arguments are wanted, as a list; leave the key out for none");
    if (value.array()->size() > limits::site_command_arguments) {
        return wrong(key + ": more than " + std::to_string(limits::site_command_arguments) + " arguments");
    }
    std::vector<std::string> argv;
    for (const Value& argument : *value.array()) {
        if (argument.text() == nullptr)
            return wrong(key + ": texts are wanted, found " + described(argument) + " in it");
        if (argument.text()->size() > limits::site_argument_bytes) {
            return wrong(key + ": an argument has more than " + std::to_string(limits::site_argument_bytes) +
                         " bytes");
        }
        argv.push_back(*argument.text());
    }
    // Without a search in PATH, and never a program that somebody named like a node.
    if (!argv[0].starts_with('/') || contains(argv[0], placeholder))
        return wrong(key + ": " + shown(argv[0]) + " is no absolute path of a program");
    return argv;
}

}  // namespace

Result<SiteCommands> read_site_commands(std::string_view text) {
    const Result<Value> document = json::parse(text, {limits::site_file_bytes, limits::json_depth});
    if (!document) return document.error();
    if (document.value().object() == nullptr)
        return wrong("an object is wanted, found " + described(document.value()));
    SiteCommands commands;
    for (const auto& [key, value] : *document.value().object()) {
        std::vector<std::string>* const command = key == "drain"      ? &commands.drain
                                                  : key == "release"  ? &commands.release
                                                  : key == "replicas" ? &commands.replicas
                                                                      : nullptr;
        if (command == nullptr)
            return wrong(printable(key) + ": unknown key: known are drain, release, replicas");
        Result<std::vector<std::string>> argv = argv_of(key, value);
        if (!argv) return argv.error();
        *command = std::move(argv).value();
    }
    return commands;
}

std::vector<std::string> for_node(const std::vector<std::string>& argv, const std::string& node) {
    std::vector<std::string> filled = argv;
    for (std::string& argument : filled) {
        for (std::size_t at = 0; (at = argument.find(placeholder, at)) != std::string::npos;
             at += node.size()) {
            argument.replace(at, placeholder.size(), node);
        }
    }
    return filled;
}

Result<std::optional<SiteCommands>> SiteFile::read() const {
    // Whoever may write it says what this process runs.
    const Result<StateFile> file = read_state_file(path_, limits::site_file_bytes);
    if (!file && file.error().code == Code::missing) return std::optional<SiteCommands>();
    if (!file) return file.error();
    Result<SiteCommands> commands = read_site_commands(file.value().content);
    if (!commands) return commands.error().within(path_ + " is wrong");
    return std::optional(std::move(commands).value());
}

Result<std::unique_ptr<SiteFile>> SiteFile::open(const std::string& directory) {
    std::unique_ptr<SiteFile> file(new SiteFile(directory + "/leader.json"));
    Result<std::optional<SiteCommands>> commands = file->read();
    if (!commands) {
        return Error{
            commands.error().code,
            commands.error().message + "; correct it (llmgw-slurm-leader(8) says what may be in it)"};
    }
    file->exists_ = commands.value().has_value();
    if (file->exists_) file->commands_ = std::make_shared<SiteCommands>(std::move(*commands.value()));
    return file;
}

std::shared_ptr<const SiteCommands> SiteFile::now() const {
    const std::lock_guard lock(mutex_);
    return commands_;
}

std::string SiteFile::problem() const {
    const std::lock_guard lock(mutex_);
    return problem_;
}

bool SiteFile::reload() {
    Result<std::optional<SiteCommands>> commands = read();
    const std::lock_guard lock(mutex_);
    std::string problem;
    if (!commands) {
        problem = commands.error().message + "; the last good commands stay in force";
    } else if (!commands.value() && exists_) {
        // Without them a lease is free at once, which has to be said and not to happen.
        problem = path_ + " is gone; the last good commands stay in force: put it back, or write {} into it";
    }
    problem = shortened(problem, limits::message_bytes);
    const bool fresh = commands && commands.value() && *commands.value() != *commands_;
    if (fresh) commands_ = std::make_shared<SiteCommands>(std::move(*commands.value()));
    exists_ = exists_ || (commands && commands.value());
    const bool news = fresh || problem != problem_;
    problem_ = std::move(problem);
    return news;
}

}  // namespace llmgw::leader

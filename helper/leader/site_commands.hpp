// How this site drains a node: DIR/leader.json, {"drain": [argv...], "release": [argv...], "replicas":
// [argv...]}, each optional. What they must do is in llmgw-slurm-leader(8).
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/result.hpp"

namespace llmgw::leader {

struct SiteCommands {
    // Each empty where there is none; argv[0] is an absolute path.
    std::vector<std::string> drain;
    std::vector<std::string> release;
    std::vector<std::string> replicas;

    bool operator==(const SiteCommands&) const = default;
};

// Strict: unknown keys, wrong types, an empty list, a program without its path.
Result<SiteCommands> read_site_commands(std::string_view text);

// "{node}" in each argument becomes the node's name, which was checked.
std::vector<std::string> for_node(const std::vector<std::string>& argv, const std::string& node);

// The file, and the last good commands in it.
class SiteFile {
  public:
    // A file that is wrong, or that others may write, is an error with the remedy; none at all means no
    // commands.
    static Result<std::unique_ptr<SiteFile>> open(const std::string& directory);

    [[nodiscard]] std::shared_ptr<const SiteCommands> now() const;
    [[nodiscard]] std::string problem() const;  // empty: the file is in force
    // Reads it again; true: there is news, of commands or of a problem.
    bool reload();

  private:
    explicit SiteFile(std::string path) : path_(std::move(path)) {}
    // Nothing: there is no file.
    [[nodiscard]] Result<std::optional<SiteCommands>> read() const;

    const std::string path_;
    mutable std::mutex mutex_;
    std::shared_ptr<const SiteCommands> commands_ = std::make_shared<SiteCommands>();
    bool exists_ = false;
    std::string problem_;
};

}  // namespace llmgw::leader

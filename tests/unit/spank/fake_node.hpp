// A node as slurmstepd makes the guard see it: a directory with the helper's node file, pyxis and enroot in
// it, the lines of plugstack.conf, and a step run through the callbacks in Slurm's order.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/node_state.hpp"
#include "fake_spank.hpp"

namespace llmgw::fake {

class Node {
  public:
    Node();
    ~Node();
    Node(const Node&) = delete;
    Node& operator=(const Node&) = delete;

    // A ready node: node file, pyxis to be mapped, enroot, both lines. Change what a test is about.
    NodeState state;
    bool pyxis_mapped = true;
    std::vector<std::vector<std::string>> lines;  // plugstack.conf's for the guard, in order
    std::size_t lines_before_pyxis = 1;
    std::function<void()> pyxis_enters = [] {};  // what pyxis's own task_init does

    [[nodiscard]] std::string path(const std::string& name) const { return directory_ + "/" + name; }
    void write(const std::string& name, const std::string& content, unsigned mode = 0644) const;
    // Writes `state` as the node file.
    void vouch() const;

    // Maps pyxis, runs every line's init and task_init as slurmstepd does, and then "runs the task": says so
    // on stderr and leaves with 0. To be called in the child of a death test, since what the guard notes
    // stays for the life of the process.
    [[noreturn]] void run_step() const;

  private:
    std::string directory_;
};

// pyxis's effect on a task, in whole or in part. False where this process may not do that.
bool may_enter_container();
void enter_mount_namespace();
void enter_root(const std::string& directory);

}  // namespace llmgw::fake

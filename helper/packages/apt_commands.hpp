// What is asked of dpkg and apt, as values. Those that change the machine are tasks, those that only look are
// commands. No question is ever asked, no pager or terminal used, and what an admin's apt.conf allows beyond
// that is off.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "core/task_runner.hpp"
#include "packages/manager.hpp"
#include "posix/process.hpp"

namespace llmgw::packages::apt {

// Of another root apt reads the configuration that is there, by its etc/apt/apt.conf, instead of this
// machine's.
std::vector<std::string> environment(const std::string& root);

// "PACKAGE ARCHITECTURE VERSION WANT STATUS FLAG" with tabs, a line for each package that dpkg knows.
Command states_query(const std::string& root);
// Lists what is in a package file: reads all of it, and so finds a truncated one.
Command contents_query(const std::string& file);
// "Package: ", "Version: " and "Architecture: " of a package file.
Command fields_query(const std::string& file);
Command offers_query(const std::string& root, const std::string& name);
// Whether apt can make sense of all sources that are configured; reaches no server.
Command sources_query(const std::string& root);
// `again`: also what is there in the right version already, as far as dpkg knows.
Command install_simulation(const std::string& root, const Wanted& wanted, bool again);
Command purge_simulation(const std::string& root, const std::vector<std::string>& names);

// `lock_patience`: how long apt waits for dpkg's locks by itself.
Task install_task(const std::string& root, const Wanted& wanted, bool again,
                  std::chrono::seconds lock_patience);
Task purge_task(const std::string& root, const std::vector<std::string>& names,
                std::chrono::seconds lock_patience);
Task update_task(const std::string& root);
Task hold_task(const std::string& root, const std::vector<std::string>& names, bool held);
// Repair, in this order.
Task configure_task(const std::string& root);
Task fix_task(const std::string& root, std::chrono::seconds lock_patience);
// For packages of which dpkg has lost half (reinst-required): apt wants a new copy before it removes them.
Task forced_purge_task(const std::string& root, const std::vector<std::string>& names);

// One source by itself. Into `lists`, a directory of its own, and without touching apt's cache; or into apt's
// lists
// (`lists` empty), beside those of the other sources.
Task update_one_task(const std::string& root, const std::string& source_list, const std::string& lists);

// Where apt puts the lists of a source: what their names begin with. "$(ARCH)" must be replaced already.
std::string list_prefix(const std::string& uri);

}  // namespace llmgw::packages::apt

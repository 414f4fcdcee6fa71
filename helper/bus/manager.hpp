// The helper's object on the system bus: /org/llmgw/Slurm1, interface org.llmgw.Slurm1 (docs/dbus.md).
// Handlers decode, ask the port, encode; who may call what is checked here again, whatever the bus's policy
// says.
#pragma once

#include <systemd/sd-bus.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bus/event_loop.hpp"
#include "bus/job_objects.hpp"
#include "core/lease.hpp"
#include "core/result.hpp"

namespace llmgw::bus {

inline constexpr const char* default_name = "org.llmgw.Slurm1";
inline constexpr const char* object_path = "/org/llmgw/Slurm1";
inline constexpr const char* interface_name = "org.llmgw.Slurm1";
// Members of this group may act, besides root.
inline constexpr const char* admin_group = "llmgw-slurm";

// Answers may come later and from within any callback of the loop, in its thread; the first one counts. They
// may be copied and dropped in any thread, also after the manager.
template <class T>
using Answer = std::function<void(Result<T>)>;

class ManagerPort : public JobSource {
  public:
    ~ManagerPort() override = default;
    virtual void describe(Answer<std::string> answer) = 0;  // JSON, docs/dbus.md
    virtual void set_containers(bool on, Answer<std::string> answer) = 0;
    virtual void set_gate(const std::string& mode, Answer<std::string> answer) = 0;
    virtual void recheck(Answer<std::string> answer) = 0;
    // Nodes to lend, and to take back; `reclaim` is for the latter.
    virtual void set_lent(std::vector<std::string> add, std::vector<std::string> remove,
                          std::optional<Reclaim> reclaim, Answer<std::string> answer) = 0;
    virtual void set_fence(const std::string& node, bool on, Answer<std::string> answer) = 0;
    virtual void plan(bool thorough, Answer<std::string> answer) = 0;  // JSON, docs/dbus.md
    // The job that does it: the one under way, or a new one.
    virtual Result<std::uint32_t> apply() = 0;
    virtual Result<std::uint32_t> uninstall(bool force) = 0;
    // Properties.
    [[nodiscard]] virtual std::string machine() const = 0;
    [[nodiscard]] virtual std::string state() const = 0;
    [[nodiscard]] virtual std::string reason() const = 0;
};

class Manager {
  public:
    // `address` empty: the system bus. Takes the name; another owner of it is an error (conflict).
    static Result<Manager> connect(const EventLoop& loop, const std::string& address, const std::string& name,
                                   ManagerPort& port);
    Manager(Manager&&) noexcept;
    Manager& operator=(Manager&&) noexcept;
    ~Manager();

    // State or reason changed: emits PropertiesChanged.
    void changed();
    // Something else that Describe tells changed: emits StatusChanged.
    void status_changed();
    void job_started(const Job& job);
    void job_changed(const Job& job);
    void job_ended(const Job& job);

  private:
    struct State;
    explicit Manager(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace llmgw::bus

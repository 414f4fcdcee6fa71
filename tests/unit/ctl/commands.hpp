// The commands that talk to the helper, over a real bus.
#pragma once

#include <sstream>

#include "ctl/context.hpp"
#include "unit/bus/on_bus.hpp"

namespace llmgw::ctl {

struct Ran {
    int code = 0;
    std::string out;
    std::string err;
};

class Commands : public test::OnBus {
  protected:
    Ran run(std::vector<const char*> words) const {
        const std::string address = bus_ ? bus_->address() : "unix:path=/nonexistent/bus";
        words.insert(words.begin(), "llmgw-slurm");
        words.insert(words.end(), {"--bus-address", address.c_str()});
        std::istringstream in;
        std::ostringstream out;
        std::ostringstream err;
        Context context{in, out, err};
        const int code = ctl::run(static_cast<int>(words.size()), words.data(), context);
        return {code, out.str(), err.str()};
    }
    void answers(const std::string& text) {
        thread_.in_loop([&] { return port_.says = text; });
    }
};

}  // namespace llmgw::ctl

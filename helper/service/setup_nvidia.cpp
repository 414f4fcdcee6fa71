// NVIDIA's repository and packages, on machines with a GPU alone.
#include "service/setup.hpp"

namespace llmgw::service {

void Setup::gather_nvidia(SetupFacts& facts) {
    facts.gpu = false;
}

Result<void> Setup::add_nvidia(SetupObserver&, const std::stop_token&) {
    return Error{Code::internal, "not there yet"};
}

Result<void> Setup::install_nvidia(const packages::Progress&, const std::stop_token&) {
    return Error{Code::internal, "not there yet"};
}

Result<void> Setup::remove_nvidia(SetupObserver&, const std::stop_token&) {
    return Error{Code::internal, "not there yet"};
}

}  // namespace llmgw::service

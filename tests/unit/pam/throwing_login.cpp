// In place of pam/login.cpp: whatever is reached throws what the test asks for.
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string_view>

#include "login.hpp"

namespace llmgw::login {
namespace {

int fail() {
    const char* set = std::getenv("LLMGW_TEST_THROWS");
    const std::string_view kind = set == nullptr ? "" : set;
    if (kind == "bad_alloc") throw std::bad_alloc();
    if (kind == "exception") throw std::runtime_error("broken");
    throw 7;
}

}  // namespace

int account(pam_handle_t*, const Words&) {
    return fail();
}
int open_session(pam_handle_t*, const Words&) {
    return fail();
}
int set_credentials(pam_handle_t*, const Words&) {
    return fail();
}

}  // namespace llmgw::login

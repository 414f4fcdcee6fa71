#include "exemption.hpp"

#include <pwd.h>

#include <string_view>

#include "core/adopt_options.hpp"

namespace llmgw::login {
namespace {

std::string_view item(const pam_handle_t* pam, int which) noexcept {
    const void* value = nullptr;
    if (pam_get_item(pam, which, &value) != PAM_SUCCESS || value == nullptr) return {};
    return static_cast<const char*>(value);
}

// "service=sshd" may be there several times; a value may be a list with commas.
bool in_list(std::string_view list, std::string_view word) noexcept {
    while (!list.empty()) {
        const std::size_t comma = list.find(',');
        if (list.substr(0, comma) == word) return true;
        if (comma == std::string_view::npos) return false;
        list.remove_prefix(comma + 1);
    }
    return false;
}

bool our_service(const pam_handle_t* pam, int count, const char** words) noexcept {
    const std::string_view service = item(pam, PAM_SERVICE);
    bool named = false;
    for (int i = 0; i < count; ++i) {
        const std::string_view word = words[i];
        if (!word.starts_with(service_key)) continue;
        named = true;
        if (in_list(word.substr(service_key.size()), service)) return true;
    }
    return !named && service == default_service;
}

bool is_admin(pam_handle_t* pam, const passwd* user, int count, const char** words) noexcept {
    bool named = false;
    for (int i = 0; i < count; ++i) {
        if (!std::string_view(words[i]).starts_with(admin_group_key)) continue;
        named = true;
        const char* group = words[i] + admin_group_key.size();
        if (*group != '\0' && pam_modutil_user_in_group_nam_nam(pam, user->pw_name, group) == 1) return true;
    }
    return !named && pam_modutil_user_in_group_nam_nam(pam, user->pw_name, default_admin_group) == 1;
}

}  // namespace

Business business(pam_handle_t* pam, int count, const char** words) noexcept {
    if (!our_service(pam, count, words)) return Business::none;
    const std::string_view name = item(pam, PAM_USER);
    // By name first: where names can't be looked up, root still gets in.
    if (name == "root") return Business::exempt;
    if (name.empty()) return Business::user;
    const passwd* user = pam_modutil_getpwnam(pam, name.data());
    if (user == nullptr) return Business::user;
    return user->pw_uid == 0 || is_admin(pam, user, count, words) ? Business::exempt : Business::user;
}

}  // namespace llmgw::login

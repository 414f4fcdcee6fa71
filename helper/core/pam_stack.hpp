// What PAM does for a service, read from its files as libpam reads them (pam.d(5)). Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmgw {

struct PamLine {
    std::string type;     // "auth", "account", "session", "password"
    std::string control;  // "required", "[success=1 default=ignore]"
    std::string module;   // as written: a name, or a path
    std::vector<std::string> words;
    std::string file;  // the name in pam.d
    int line = 0;

    // Whether it is that module, wherever it lies.
    [[nodiscard]] bool is(std::string_view name) const;
    // "common-account:17"
    [[nodiscard]] std::string place() const;
    bool operator==(const PamLine&) const = default;
};

// The text of a file in pam.d; nothing: it is not there.
using PamFiles = std::function<std::optional<std::string>(const std::string& name)>;

// All lines of the service in their order, with those of the files that it includes in their places. What
// includes itself, or is no line, is left out.
std::vector<PamLine> pam_lines(const PamFiles& files, const std::string& service);

// For comparing and for digests: a line each, without where it stands.
std::string text_of(const std::vector<PamLine>& lines);

}  // namespace llmgw

#include "json/accounts_json.hpp"

#include <iterator>

#include "core/limits.hpp"
#include "core/text.hpp"
#include "json/load.hpp"
#include "json/settings_json.hpp"

namespace llmgw::json {

ReadAccounts read_accounts_text(std::string_view text) {
    Document document = load(text, {limits::accounts_bytes, limits::json_depth});
    std::vector<SettingError> errors;
    for (Problem& problem : document.problems) {
        errors.push_back({std::move(problem.key), std::move(problem.message), problem.line, problem.column});
    }
    if (!document.root) return {{}, std::move(errors)};
    ReadAccounts read = read_accounts(*document.root);
    read.errors.insert(read.errors.begin(), std::make_move_iterator(errors.begin()),
                       std::make_move_iterator(errors.end()));
    return read;
}

std::string sentence_of(const std::vector<SettingError>& errors) {
    std::vector<std::string> lines;
    for (const SettingError& error : errors) lines.push_back(text_of(error));
    return shortened(join(lines, "; "), limits::message_bytes);
}

}  // namespace llmgw::json

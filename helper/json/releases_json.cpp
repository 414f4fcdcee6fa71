#include "json/releases_json.hpp"

#include <utility>

#include "core/releases_check.hpp"
#include "core/releases_parse.hpp"
#include "json/load.hpp"

namespace llmgw::json {

ReadReleases read_releases_text(std::string_view text) {
    Document document = load(text);
    ReadReleases result;
    for (Problem& problem : document.problems) {
        result.errors.push_back(
            {std::move(problem.key), std::move(problem.message), problem.line, problem.column});
    }
    if (!document.root) return result;
    ParsedReleases parsed = parse_releases(*document.root);
    std::vector<SettingError> broken = check_releases(parsed);
    for (std::vector<SettingError>* errors : {&parsed.errors, &broken}) {
        result.errors.insert(result.errors.end(), std::make_move_iterator(errors->begin()),
                             std::make_move_iterator(errors->end()));
    }
    result.releases = std::move(parsed.releases);
    return result;
}

}  // namespace llmgw::json

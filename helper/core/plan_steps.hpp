// How the parts of a plan make their steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "core/plan.hpp"

namespace llmgw {

inline Step step(std::string name, std::string title, std::string undo = {}) {
    return {std::move(name), std::move(title), false, {}, {}, std::move(undo), false};
}

inline Step is_done(Step step, std::string finding) {
    step.done = true;
    step.finding = std::move(finding);
    return step;
}

inline Step is_missing(Step step, std::string finding, std::vector<Action> apply) {
    step.finding = std::move(finding);
    step.apply = std::move(apply);
    return step;
}

}  // namespace llmgw

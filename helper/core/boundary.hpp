// The edge between Slurm's C and our C++: nothing thrown gets past it.
#pragma once

#include <exception>

namespace llmgw {

// Runs `body` and returns what it returns; when something is thrown, reports it once and returns `fail`.
// `report(entry, what)` must not throw.
template <class Body, class Report>
int contained(const char* entry, int fail, Report report, Body body) noexcept {
    try {
        return body();
    } catch (const std::exception& thrown) {
        report(entry, thrown.what());
    } catch (...) {
        report(entry, "an unknown exception");
    }
    return fail;
}

}  // namespace llmgw

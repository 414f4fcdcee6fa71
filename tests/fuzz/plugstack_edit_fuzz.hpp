// Attack surface: plugstack.conf and its drop-ins, which are rewritten with root's rights on machines where
// sites, packages and other tools wrote them. Whatever is in them: an edit is refused with one line, or
// afterwards the stack is safe, a second edit has nothing to do, undo gives the site's bytes back, and in no
// state on the way is pyxis without its guard. The corpus runs as an ordinary test too
// (tests/unit/core/plugstack_edit_corpus_test.cpp).
//
// The input: a byte of flags, the main file, and behind a zero byte a file of the included directory.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "core/edit_order.hpp"
#include "core/plugstack_edit.hpp"
#include "fuzz/promise.hpp"

namespace llmgw::fuzz {

inline StackSite done(StackSite site, const FileEdits& edits) {
    PlugstackTree end = site.tree;
    for (const FileEdit& edit : edits) {
        end.files.erase(edit.path);
        if (edit.after) end.files[edit.path] = *edit.after;
    }
    const StackDanger most = std::max(danger_of(site.tree), danger_of(end));
    for (const FileEdit& edit : edits) {
        const auto there = site.tree.files.find(edit.path);
        must(there == site.tree.files.end() ? !edit.before : edit.before == there->second);
        site.tree.files.erase(edit.path);
        if (edit.after) site.tree.files[edit.path] = *edit.after;
        must(danger_of(site.tree) <= most);
    }
    return site;
}

inline void plugstack_edit(std::string_view input) {
    const unsigned flags = input.empty() ? 0 : static_cast<unsigned char>(input.front());
    input.remove_prefix(std::min<std::size_t>(input.size(), 1));
    const std::size_t zero = input.find('\0');
    StackSite site;
    site.tree.main = "/s/plugstack.conf";
    site.directories = {"/s/d"};
    site.published = (flags & 1U) != 0;
    if ((flags & 2U) != 0) site.main_locked = "is locked";
    if ((flags & 4U) == 0) site.tree.files[site.tree.main] = input.substr(0, zero);
    if (zero != std::string_view::npos) {
        site.tree.files[(flags & 8U) != 0 ? "/s/d/llmgw.conf" : "/s/d/site.conf"] = input.substr(zero + 1);
    }
    const StackLibraries libraries{"/l/spank_llmgw.so", "/l/spank_llmgw_options.so", "/l/spank_pyxis.so",
                                   "/r"};

    const Result<FileEdits> edits = stack_edits(site, libraries, true);
    const Result<PlugstackTree> bare = without_ours(site.tree, !site.main_locked.empty());
    if (!edits) {
        must(!edits.error().message.empty() && one_printable_line(edits.error().message));
        return;
    }
    const StackSite after = done(site, edits.value());
    const Result<ResolvedStack> resolved = resolve_stack(after.tree);
    must(resolved && !unsafe_stack(resolved.value().stack()) && pyxis_in(resolved.value().stack()));
    const Result<FileEdits> again = stack_edits(after, libraries, true);
    must(again && again.value().empty());
    const Result<FileEdits> undo = without_us(after);
    must(undo && bare && done(after, undo.value()).tree == bare.value());
    const Result<FileEdits> withdrawal = without_pyxis(after);
    must(withdrawal.ok());
    const StackSite without = done(after, withdrawal.value());
    const Result<FileEdits> back = stack_edits(without, libraries, true);
    must(back && done(without, back.value()).tree == after.tree);
}

}  // namespace llmgw::fuzz

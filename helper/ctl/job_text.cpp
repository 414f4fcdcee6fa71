#include "ctl/job_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/limits.hpp"
#include "core/shown.hpp"
#include "ctl/answer.hpp"

namespace llmgw::ctl {
namespace {

std::string bytes_text(const Job& job) {
    constexpr double megabyte = 1e6;
    const double done = static_cast<double>(job.bytes_done) / megabyte;
    if (job.bytes_total == 0) return job.bytes_done == 0 ? "" : fmt::format("{:.1f} MB", done);
    return fmt::format("{:.1f} of {:.1f} MB", done, static_cast<double>(job.bytes_total) / megabyte);
}

const Value::Array& steps_of(const Value& plan) {
    static const Value::Array none;
    return plan.array() == nullptr ? none : *plan.array();
}

}  // namespace

std::string job_text(const Job& job) {
    if (!job.running())
        return job.kind + " " + job.state + ": " + printable(job.message, limits::message_bytes);
    if (job.step_number == 0) return job.kind + ": looking at this machine";
    std::string text =
        fmt::format("[{}/{}] {}", job.step_number, job.step_count, printable(job.step, limits::shown_bytes));
    if (const std::string bytes = bytes_text(job); !bytes.empty()) text += ": " + bytes;
    if (!job.note.empty()) text += " (" + printable(job.note, limits::message_bytes) + ")";
    return text;
}

Value job_value(const Job& job) {
    Value value(Value::Object{});
    value.set("id", std::uint64_t{job.id})
        .set("kind", job.kind)
        .set("state", job.state)
        .set("step", job.step);
    value.set("step_number", std::uint64_t{job.step_number}).set("step_count", std::uint64_t{job.step_count});
    value.set("bytes_done", job.bytes_done).set("bytes_total", job.bytes_total);
    value.set("note", job.note).set("message", job.message);
    return value;
}

std::string plan_text(const Value& plan) {
    if (steps_of(plan).empty())
        return "nothing to do: this machine is not part of the cluster, or the cluster is switched off\n";
    std::string text;
    int number = 0;
    for (const Value& step : steps_of(plan)) {
        const bool done = flag_at(step, "done");
        const char* mark = done ? "done" : flag_at(step, "possible") ? "to do" : "cannot";
        text += fmt::format("{:>2}  {:<6}  {}: {}\n", ++number, mark, text_at(step, "title"),
                            text_at(step, "finding"));
    }
    return text;
}

bool all_done(const Value& plan) {
    const Value::Array& steps = steps_of(plan);
    return std::all_of(steps.begin(), steps.end(), [](const Value& step) { return flag_at(step, "done"); });
}

}  // namespace llmgw::ctl

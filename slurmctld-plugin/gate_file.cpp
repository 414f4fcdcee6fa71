#include "gate_file.hpp"

#include "core/limits.hpp"

namespace llmgw::gate {

GateFile::Kept GateFile::kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
}

std::shared_ptr<const Result<GateState>> GateFile::state() {
    const Result<FileStamp> stamp = stamp_of(path_);
    if (!stamp) return std::make_shared<const Result<GateState>>(stamp.error());
    if (Kept last = kept(); last.state && last.stamp == stamp.value()) return last.state;
    return read_and_keep();
}

std::shared_ptr<const Result<GateState>> GateFile::read_and_keep() {
    Result<StateFile> file = read_state_file(path_, limits::state_file_bytes);
    if (!file) return std::make_shared<const Result<GateState>>(file.error());
    Result<GateState> parsed = parse_gate_state(file.value().content);
    if (!parsed) parsed = Error{parsed.error().code, path_ + " " + parsed.error().message};
    Kept fresh{file.value().stamp, std::make_shared<const Result<GateState>>(std::move(parsed))};
    const std::lock_guard lock(mutex_);
    kept_ = fresh;
    return fresh.state;
}

}  // namespace llmgw::gate

// A program's answer that depends on nothing but some files, kept until one of these is another. For
// several threads.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/result.hpp"
#include "posix/file.hpp"

namespace llmgw {

// The files' stamps as one text; empty: one of them is not there.
inline std::string stamps_of(const std::vector<std::string>& files) {
    std::string all;
    for (const std::string& file : files) {
        const Result<FileStamp> stamp = stamp_of(file);
        if (!stamp) return {};
        all += file + "=" + stamp.value().text() + "\n";
    }
    return all;
}

template <class Answer>
class Remembered {
  public:
    // `state` is taken before the program is asked, so that what changes meanwhile is seen the next time.
    // Empty: nothing is kept. An error never is.
    template <class Ask>
    Result<Answer> get(const std::string& question, const std::string& state, const Ask& ask) {
        {
            const std::lock_guard lock(mutex_);
            const auto kept = answers_.find(question);
            if (!state.empty() && kept != answers_.end() && kept->second.first == state)
                return kept->second.second;
        }
        Result<Answer> answer = ask();
        const std::lock_guard lock(mutex_);
        if (answer && !state.empty()) {
            answers_.insert_or_assign(question, std::pair(state, answer.value()));
        } else {
            answers_.erase(question);
        }
        return answer;
    }

  private:
    std::mutex mutex_;
    std::map<std::string, std::pair<std::string, Answer>> answers_;  // by question: state, answer
};

}  // namespace llmgw

// A job descriptor that owns what it points at.
#pragma once

#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "slurmctld_api.hpp"

namespace llmgw::fake {

class Job {
  public:
    // Entries "NAME=VALUE"; a job of sbatch has some in both arrays.
    Job& environment(const std::vector<std::string>& entries) {
        fill(environment_, entries, job_.environment, job_.env_size);
        return *this;
    }
    Job& job_control(const std::vector<std::string>& entries) {
        fill(job_control_, entries, job_.spank_job_env, job_.spank_job_env_size);
        return *this;
    }
    Job& script(std::string text) {
        job_.script = keep(std::move(text));
        return *this;
    }
    Job& container(std::string bundle) {
        job_.container = keep(std::move(bundle));
        return *this;
    }
    job_desc_msg_t* operator->() { return &job_; }
    job_desc_msg_t* get() { return &job_; }

  private:
    char* keep(std::string text) { return kept_.emplace_back(std::move(text)).data(); }
    void fill(std::vector<char*>& pointers, const std::vector<std::string>& entries, char**& array,
              std::uint32_t& size) {
        for (const std::string& entry : entries) pointers.push_back(keep(entry));
        array = pointers.data();
        size = static_cast<std::uint32_t>(pointers.size());
    }

    std::deque<std::string> kept_;
    std::vector<char*> environment_;
    std::vector<char*> job_control_;
    job_desc_msg_t job_{};
};

}  // namespace llmgw::fake

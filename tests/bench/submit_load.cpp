// Submits plain batch jobs through libslurm as fast as slurmctld takes them and prints how many a second:
// submit_load COUNT SCRIPT_BYTES. The jobs are held, so that nothing is measured but submission.
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
}

namespace {

constexpr int environment_entries = 60;

std::vector<std::string> make_environment() {
    std::vector<std::string> entries{"PATH=/usr/bin:/bin"};
    for (int i = 1; i < environment_entries; ++i) {
        entries.push_back("SOME_VARIABLE_" + std::to_string(i) + "=" + std::string(40, 'x'));
    }
    return entries;
}

std::string make_script(std::size_t bytes) {
    std::string script = "#!/bin/sh\n";
    while (script.size() < bytes) script += "echo one more line of a script that says nothing of containers\n";
    return script;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fputs("usage: submit_load COUNT SCRIPT_BYTES\n", stderr);
        return 2;
    }
    const int count = std::atoi(argv[1]);
    slurm_init(nullptr);
    std::vector<std::string> environment = make_environment();
    std::vector<char*> entries;
    for (std::string& entry : environment) entries.push_back(entry.data());
    std::string script = make_script(std::strtoul(argv[2], nullptr, 10));
    std::string name = "load";
    std::string directory = "/";
    std::string output = "/dev/null";

    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) {
        job_desc_msg_t job;
        slurm_init_job_desc_msg(&job);
        job.name = name.data();
        job.work_dir = directory.data();
        job.std_out = output.data();
        job.script = script.data();
        job.environment = entries.data();
        job.env_size = static_cast<std::uint32_t>(entries.size());
        job.user_id = ::getuid();
        job.group_id = ::getgid();
        job.min_nodes = 1;
        job.priority = 0;
        submit_response_msg_t* response = nullptr;
        if (slurm_submit_batch_job(&job, &response) != SLURM_SUCCESS) {
            std::fprintf(stderr, "submit_load: %s\n", slurm_strerror(slurm_get_errno()));
            return 1;
        }
        slurm_free_submit_response_response_msg(response);
    }
    const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
    std::printf("%.1f\n", count / time.count());
    return 0;
}

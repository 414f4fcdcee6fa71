/* update_job JOB spank|environment NAME=VALUE: a change of a job that scontrol can't make. */
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char** argv) {
    if (argc != 4) return 2;
    job_desc_msg_t change;
    slurm_init(NULL);
    slurm_init_job_desc_msg(&change);
#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(25, 11, 0)
    change.step_id.job_id = (uint32_t)atoi(argv[1]);
#else
    change.job_id = (uint32_t)atoi(argv[1]);
#endif
    char* entries[] = {argv[3], NULL};
    if (strcmp(argv[2], "spank") == 0) {
        change.spank_job_env = entries;
        change.spank_job_env_size = 1;
    } else {
        change.environment = entries;
        change.env_size = 1;
    }
    if (slurm_update_job(&change) == SLURM_SUCCESS) return 0;
    slurm_perror("update_job");
    return 1;
}

// The only place that includes Slurm's headers for the gate, with what slurmctld calls and exports but
// declares in no public header: job_submit and job_modify (22.05 slurmctld/job_submit.c, 24.11 and 26.05
// interfaces/job_submit.c), and the allocator whose memory slurmctld frees (common/xstring.h, xmalloc.h).
#pragma once

extern "C" {
#include <slurm/slurm.h>
#include <slurm/slurm_errno.h>
#include <slurm/spank.h>  // slurm_error and its kin

char* slurm_xstrdup(const char* text);
void slurm_xfree(void** memory);
}

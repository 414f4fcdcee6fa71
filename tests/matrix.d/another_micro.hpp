// Included before everything else: Slurm's number with another last byte.
#pragma once

#include <slurm/slurm_version.h>

#undef SLURM_VERSION_NUMBER
#define SLURM_VERSION_NUMBER LLMGW_ANOTHER_MICRO

#!/bin/sh
#SBATCH --container-image=x
srun \
--container-image=y

#!/bin/sh
#SBATCH -N 1 --container-image=x
true

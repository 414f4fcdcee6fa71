#!/bin/sh
srun -N 2 \
  --nodes 2 \
 --container-image=x \
 true

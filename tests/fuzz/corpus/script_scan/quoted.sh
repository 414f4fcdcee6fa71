#!/bin/sh
#SBATCH "--container-image=a b" -J 'x y'

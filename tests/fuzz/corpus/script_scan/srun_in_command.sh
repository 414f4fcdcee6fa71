out=$(srun --container-image=x true; echo `srun -l --container-name=y z`) && srun a|b

# C:\dir\
#SBATCH --container-image=x
# more \
srun --container-name=y z

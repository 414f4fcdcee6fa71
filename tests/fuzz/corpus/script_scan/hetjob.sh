#SBATCH -N1
#SBATCH hetjob
#SBATCH --container-name=x

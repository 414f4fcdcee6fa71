#SBATCH "--container-image=x
srun 'a
--container-image

"""What the machine has: the CUDA compiler, our programs, a GPU, a GPU's limits."""

"""Every word that the grader ever looked for in a sentence, to show that it looks for none now."""

# One text that holds them all: for exceptions, assertions, printf and the like.
EVERY_WORD = (
    "is not provided, wrote to its input M, a device pointer, undefined symbol: cublasSgemm_v2,"
    " cuda, cublas, cutlass, cudnn, cusparse, was freed, the asynchronous copy has not been waited"
    " for, constant memory, local memory, copies to Nds+64, which thread (0,1) read at line 9,"
    " copied to, wrote, no __syncthreads() or __syncwarp() between, reads updates waits writes,"
    " thread (3), P at byte 4 (element 1)"
)
# The same as names that a student may give: to arrays, kernels, functions.
NAMES = (
    "freed_rows",
    "read_x",
    "__syncwarp_tile",
    "copied_to",
    "copies_to_x",
    "asynchronous_copy",
    "constant_memory",
    "local_memory",
    "wrote_to_its_input",
    "device_pointer",
    "cublas_tile",
    "is_not_provided",
)

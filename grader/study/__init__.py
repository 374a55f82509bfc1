"""The classic study of eight kernels and a library's, repeated: `grader study`, `make study`.

    published   what the study printed, as data (Li, Ranka, Sahni, "GPU Matrix Multiplication")
    gallery     our kernels in solutions/gallery and the block shapes they are run with
    measure     compile, record and execute them on the simulator: counts
    baselines   the CPU baselines' times
    gpu         times on a real GPU
    result      what a study found, as data and as JSON
    tables      the same as tables; text, markdown and pictures render those

Only `text` needs rich and only `pictures` needs matplotlib.
"""

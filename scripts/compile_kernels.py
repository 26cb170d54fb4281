"""Compiles the kernels of every kind of join for this host, in as many processes as the argument says."""

import sys
from multiprocessing import Pool

from punctuated.runtime.kernel_groups import Kernels
from punctuated.runtime.warm_up import compile_all

if __name__ == "__main__":
    n_processes = int(sys.argv[1])
    with Pool(n_processes) as pool:
        pool.map(compile_all, [tuple(Kernels)] * n_processes, chunksize=1)

"""Compiles the kernels of every kind of join for this host, in as many processes as the argument says."""

import sys
from multiprocessing import Pool

from punctuated.bind.warm_up import Kernels, compile_once

if __name__ == "__main__":
    with Pool(int(sys.argv[1])) as pool:
        pool.map(compile_once, Kernels, chunksize=1)

"""`python -m punctuated.runtime.compile_kernels TWO_STREAMS …`: compiles kernels, sharing the work with others."""

import os
import sys

from punctuated.runtime.kernel_groups import Kernels
from punctuated.runtime.warm_up import compile_all

if __name__ == "__main__":
    os.nice(10)  # Spark may start at the same time, and waits only ten seconds for some of its processes
    compile_all(tuple(Kernels[name] for name in sys.argv[1:]))

"""`python -m punctuated.bind.compile_kernels OF_VALUES …`: compiles kernels, and shares that with others who do."""

import os
import sys

from punctuated.bind.kernels import Kernels
from punctuated.bind.warm_up import compile_all

if __name__ == "__main__":
    os.nice(10)  # Spark, which starts beside it, waits ten seconds for some of its processes, and not longer
    compile_all(tuple(Kernels[name] for name in sys.argv[1:]))

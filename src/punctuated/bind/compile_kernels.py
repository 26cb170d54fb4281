"""`python -m punctuated.bind.compile_kernels OF_VALUES …`: compiles kernels, and shares that with others who do."""

import sys

from punctuated.bind.kernels import Kernels
from punctuated.bind.warm_up import compile_all

if __name__ == "__main__":
    compile_all(tuple(Kernels[name] for name in sys.argv[1:]))

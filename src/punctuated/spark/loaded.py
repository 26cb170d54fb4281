"""What a worker has loaded, out of the sight of Python's garbage collector.

Spark's daemon collects garbage after every task of a worker (`pyspark/daemon.py`). A collection looks at every object
of every module and kernel, which takes 80 ms of a processor, several times in each micro-batch, while the next tasks
wait. What stays as long as the worker is set aside instead. Garbage that comes later is collected as before.
"""

import gc
from functools import cache

from pyspark import TaskContext

from punctuated.bind.kernels import Kernels
from punctuated.bind.load_kernels import load_kernels
from punctuated.bind.warm_up import compile_all
from punctuated.spark.cache import CACHE


@cache
def load(needed: tuple[Kernels, ...] = ()) -> None:
    """Compile or load these kernels, and set aside everything that is loaded now; called before a bucket is opened.

    Buckets have cycles of references: one that is set aside would stay for ever. So nothing is set aside while a bucket
    is kept. Outside of Spark's tasks the process is not ours, and its collector is left alone.
    """
    compile_all(needed)
    if TaskContext.get() is None:
        return
    for kernels in needed:
        load_kernels(kernels)
    if not len(CACHE):
        gc.collect()
        gc.freeze()

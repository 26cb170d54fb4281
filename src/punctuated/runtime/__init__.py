"""What runs beside a join in a process: compilation of kernels, threads that prefetch, and the lineage of outputs.

Kernels are compiled once per host and then loaded. Threads change when something is done, never what comes out. Both
runners, `local` and `spark`, stand on this folder.

May import `bind` and everything to its right in the order of layers. Tests: `tests/runtime`.
"""

"""What runs beside a join: compilation of kernels, threads that prefetch, and the lineage of outputs.

    kernel_groups    which kernels are compiled together, and which of them a join needs
    warm_up          compiles them once per host
    prefetch         items that a thread makes before they are asked for
    lineage          which join an output came from, so that it can go on as a stream

Invariant: this changes when something is done, never what comes out.

May import: bind and everything below it in docs/contributing/architecture.md. Tests: tests/runtime/.
"""

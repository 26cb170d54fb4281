"""The state of a join as arrays: values, tuples in the order of arrival, timers; and the rows of stored tuples.

Invariant: kernels fill the arrays, this folder only gives them room. Nothing but the nodes of tuples knows row numbers,
and nothing that is saved is a pointer: a value is named by its code, and everything is linked anew when it is loaded.

May import: intake and everything below it in docs/contributing/architecture.md. Tests: tests/state/.
"""

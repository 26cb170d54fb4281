"""The two ends of event time: every time lies between them, windows added. Kernels are compiled with their values."""

NEVER = -(2**62)  # before every time
FOREVER = 2**62  # after every time
UNBOUNDED = 2**61  # a window that only the end of another stream leaves behind

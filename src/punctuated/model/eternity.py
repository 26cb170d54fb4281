"""The two ends of event time: every time, plus any window, is between them. Kernels are compiled with their values."""

NEVER = -(2**62)  # before every time
FOREVER = 2**62  # after every time
UNBOUNDED = 2**61  # a window that ends only with the other stream

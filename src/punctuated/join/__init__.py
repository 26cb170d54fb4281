"""Engine-free operators over the kernels."""

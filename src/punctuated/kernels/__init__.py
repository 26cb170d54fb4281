"""Numba only: arrays in, arrays out."""

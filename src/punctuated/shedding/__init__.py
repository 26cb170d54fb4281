"""Joins under limited resources: which tuples are left out, and estimates from what is left."""

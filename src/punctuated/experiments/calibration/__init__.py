"""Measures what structures and the index of values cost on this machine, for plans to go by (KN-18)."""

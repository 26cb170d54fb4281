"""Asymmetric window joins: a structure of its own on each window (KN-02, KN-06), chosen by what it costs.

May import: operator/pwjoin for the lines of plans, and what that may import. Tests: tests/operator/windows/.
"""

"""Joins of any number of streams by a walk over the others: the family of the W-join report (WJ-11 to WJ-27).

May import: operator/pwjoin, whose tactic it extends, and what that may import. Tests: tests/operator/multiway/.
"""

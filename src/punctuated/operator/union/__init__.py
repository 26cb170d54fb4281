"""A union of streams, or one stream by itself: the loop of many streams, in which no tuple waits for another one.

May import: operator/multiway, and what that may import. Tests: tests/operator/union/.
"""

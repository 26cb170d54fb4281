"""Plans as text, JSON and pictures. All formats show the same facts of the same tree, by test.

May import `plan`. Tests: `tests/plan/test_explain.py`.
"""

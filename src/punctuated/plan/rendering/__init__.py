"""Plans as text, JSON and pictures.

Invariant: all formats show the same facts of the same tree.

May import: plan and everything below it in docs/contributing/architecture.md. Tests: tests/plan/test_explain.py.
"""

"""Joins whose state does not fit into memory."""

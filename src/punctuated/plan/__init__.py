"""Estimates and explanations."""

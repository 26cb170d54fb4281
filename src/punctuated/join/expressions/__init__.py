"""Expressions, evaluated column-wise by Arrow: what is computed of tables, wherever they come from."""

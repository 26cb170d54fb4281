"""State beyond memory: what a join does when its tuples do not fit."""

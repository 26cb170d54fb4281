"""XJoin and PJoin as the papers have them: in stages, driven by events (PJ-13)."""

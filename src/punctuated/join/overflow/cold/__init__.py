"""Cold values: what was not touched for long waits on disk, and comes back before it is needed."""

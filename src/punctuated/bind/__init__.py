"""From names, columns and options to one bound join: everything that a join is, below all engines."""

"""From names, columns and options to one bound join: the complete join, independent of the engine."""

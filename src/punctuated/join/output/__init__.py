"""What leaves a join: results, views, groups, the chain to another join, and counters."""

"""How a batch is joined: each tactic owns the work of one object after another, the driver owns time."""

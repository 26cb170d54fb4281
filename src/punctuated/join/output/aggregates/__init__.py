"""What is kept of a group's results while it is open, and how that becomes its aggregates when it is final."""

"""What is kept of a group's results while it is open, and what becomes of that when it is final."""

"""What is particular to joins of any number of streams: completing, forgetting, propagating."""

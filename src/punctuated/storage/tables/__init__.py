"""Tables that a join writes by itself: Parquet files beside each other, and what makes a batch of them visible."""

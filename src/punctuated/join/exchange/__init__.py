"""What travels between pack and step: batches spread over buckets, and what every bucket must know of the whole."""

"""Public tools for building operators: the oracle, Hypothesis strategies for streams, and conformance checks."""

"""The oracle, Hypothesis strategies for streams, and conformance checks: public, for those who build operators."""

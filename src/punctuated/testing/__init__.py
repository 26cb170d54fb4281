"""Public tools for those who build operators or test their streams: the oracle, random streams, conformance checks.

    reference             the oracle of two streams: slow, obvious Python that defines what is correct. Start here.
    multiway_reference    the oracle of any number of streams
    reference_streams     what all oracles share: batches, watermarks, promises, endings
    strategies            Hypothesis strategies for streams and joins; multiway_strategies for many streams
    checks                compare any operator with the oracle

Invariant: the oracle shares no code with what it judges.

May import: model and errors; strategies, checks and tables also what they need of Arrow. Tests: tests/testing/.
"""

"""What a join will need and do: bounds and sizes of its state, its costs, the choice of structures, its plan as a tree.

    bounds        what a join forgets, and when its output is punctuated
    statistics    what is known of the data of streams, and what a join of them is expected to hold
    sizing        memory, cores and buckets of a query, from rates and windows alone
    allocation    how streams share short resources
    optimizer     which structures the windows of a running join should have
    planner       the plan of a join, a union or groups as a tree of facts, see `tree`
    cost          the formulas of Kang, Naughton and Viglas
    rendering     plans as text, JSON and pictures

Invariant: figures are estimates, statements are facts. What a plan says of bounds and punctuations is what the warnings
say and what the operators do.

May import: operator and everything below it in docs/contributing/architecture.md. Tests: tests/plan/, with the plans of
some queries in snapshots/.
"""

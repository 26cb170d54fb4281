"""What a join will need and do: bounds and sizes of its state, costs, the choice of structures, its plan as a tree.

Everything here is computed from specifications and statistics; no tuple is joined. Figures of a plan are estimates, its
statements (what bounds a state, when a value is over) are facts: the warnings and the operators say the same, by test.
`cost` has the formulas of Kang, Naughton and Viglas, `rendering` shows a plan as text, JSON or a picture.

May import `operator` and everything to its right in the order of layers. Tests: `tests/plan`; the plans of some queries
are kept in `tests/plan/snapshots`.
"""

"""PWJoin, and the same loop with proofs switched off: WJoin, PJoin, the symmetric hash join (PW-06, PW-57).

May import: the operator's driver, family and tactic, and everything below the operator in
docs/contributing/architecture.md. Tests: tests/operator/pwjoin/.
"""

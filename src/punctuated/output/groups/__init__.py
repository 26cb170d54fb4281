"""Groups of the results of a join: each comes out once, when nothing can change it any more.

Open groups are kept between batches, with what their aggregates need of them; a group that has come out is forgotten.
Groups stand on the output of a join and on `aggregates`; nothing of the output knows groups. Imports what stands below
`output` in docs/contributing/architecture.md. Tests: `tests/output/groups/`.
"""

"""From what a user declares to one bound join.

Sources of punctuations and options are checked into declared streams, and declared streams are bound to a join or a
union. Everything that a user can get wrong is found here, before a row is read; a message says what to write instead.
No data is processed here: a `BoundJoin` is plain data that any runner can carry out, on tables or on Spark.

May import `plan` and everything to its right in the order of layers. Tests: `tests/bind`.
"""

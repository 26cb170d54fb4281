"""From what a user declares to one bound join: the complete join as plain data, independent of the engine.

    options, sources, declared    what `pt.stream` and `pt.join` take, checked
    streams       what `pt.stream` returns
    binder        declared streams become a join of two or many streams
    union         declared streams become a union
    bound_join    the bound join, which makes drivers, groups and plans for its runner

Invariant: whatever a user can get wrong is found here, before a row is read, and the message says what to write.

May import: plan and everything below it in docs/contributing/architecture.md. Tests: tests/bind/.
"""

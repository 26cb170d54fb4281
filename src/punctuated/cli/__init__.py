"""The `punctuated` command.

Idea: each command parses its options, calls one function of the package, and shows what that gives through a view
(`view`), which is the same for all commands that take long: tables on a terminal, lines in a file, JSON for programs.

Invariant: nothing is computed here that a program could not compute with the API. An error that the user can fix is one
message and exit code 2, never a traceback.

May import: everything below it in docs/contributing/architecture.md, `sql` and `api` first; nothing imports this folder
but `python -m punctuated` and those who draw pictures with `plot`. Tests: `tests/cli/`.
"""

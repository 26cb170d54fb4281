"""From the text of a query to plain data.

Idea: sqlglot gives tokens and expressions; clauses and statements are read here, because windows and punctuations are
none of its business.

Invariant: everything that comes out of here knows its position in the text, and names mean nothing yet. Only this
folder touches the insides of sqlglot's tokenizer and parser (`dialect`, `token_parser`); others read its finished
expressions.

May import: sqlglot, `model` and `errors`. Tests: `tests/sql/parse/`.
"""

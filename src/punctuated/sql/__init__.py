"""The query language: SQL with windows and punctuations, on sqlglot. It speaks to the same API as users do."""

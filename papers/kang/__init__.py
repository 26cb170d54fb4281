"""Kang, Naughton and Viglas, *Evaluating Window Joins over Unbounded Streams*: costs of structures, limited resources.

`formulas` and `limited_output` are the paper's equations that no plan goes by; those that plans go by are in the
product, `punctuated.plan.cost`. Invariant: this folder imports `papers.lab` and the product only. Tests are in
`tests/papers`.
"""

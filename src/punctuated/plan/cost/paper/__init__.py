"""What the papers print and no plan is made by: closed forms, rewritten equations, Table 3, Eq. (1) of PWJoin.

Kept to be compared with, by experiments and tests; `pt.cost` has them all.
"""

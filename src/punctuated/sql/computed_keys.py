"""Equalities of expressions, such as `A.item % 10 = B.slot`: each side becomes a column of its stream, to join by."""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from punctuated.errors import PunctuatedError
from punctuated.join.expressions.evaluate import result_type
from punctuated.join.intake.keys import common_key_type
from punctuated.model.free_names import free_names
from punctuated.model.predicate import Expression, over
from punctuated.sql.inputs import Input, here
from punctuated.sql.predicates import Part
from punctuated.sql.resolve import Ref, Scope
from punctuated.sql.translate import Translator


def compute_keys(parts: Sequence[Part], inputs: Sequence[Input], scope: Scope) -> tuple[list[Part], list[Input]]:
    """The parts of a predicate, their equalities now of columns, and the streams with these columns."""
    found, having = list[Part](), list(inputs)
    for part in parts:
        sides = _sides(part, scope)
        if sides is None or not _can_be_keys(sides, having, scope):
            found.append(part)
            continue
        first, second = (_tied(place, node, having, scope) for place, node in sides)
        found.append(replace(part, pair=(first, second)))
    return found, having


def _sides(part: Part, scope: Scope) -> list[tuple[int, exp.Expr]] | None:
    """Both sides of an equality, each of one stream, and of which."""
    if not isinstance(part.node, exp.EQ) or part.equal is not None:
        return None
    both = (part.node.this, part.node.expression)
    places = [{scope.find(column).place for column in side.find_all(exp.Column)} for side in both]
    if any(len(each) != 1 for each in places) or places[0] == places[1]:
        return None
    return [(next(iter(each)), side) for each, side in zip(places, both, strict=True)]


def _can_be_keys(sides: Sequence[tuple[int, exp.Expr]], inputs: Sequence[Input], scope: Scope) -> bool:
    """Whether values of both types can be compared as keys; if not, they are as any other predicate."""
    types = list[pa.DataType]()
    try:
        for place, node in sides:
            types.append(result_type(_value(inputs[place], node, scope), inputs[place].stream.schema))
        common_key_type("key", *types)
    except PunctuatedError:
        return False
    return True


def _tied(place: int, node: exp.Expr, inputs: list[Input], scope: Scope) -> Ref:
    """The column with the values of one side; a new one if it is computed."""
    if isinstance(node, exp.Column):
        return scope.find(node)
    one = inputs[place]
    name = free_names(["key"], list(one.columns))[0]
    inputs[place] = replace(one, columns={**one.columns, name: _value(one, node, scope)})
    return Ref(place, name)


def _value(one: Input, node: exp.Expr, scope: Scope) -> Expression:
    return over(Translator(scope.sql, lambda column: here(scope.find(column).name)).translate(node), one.columns)

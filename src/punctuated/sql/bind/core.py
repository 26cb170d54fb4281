"""What a block reads: one stream, or several that are joined; and what its columns are called there."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from punctuated.expressions.nodes import CaseWhen, Expression, Negation, NullTest
from punctuated.sql.bind.expressions import Translator, checked_value
from punctuated.sql.bind.inputs import Input, here
from punctuated.sql.bind.names import Ref, ResultNames, Scope
from punctuated.sql.bind.outputs import Output
from punctuated.sql.parse.errors import Place

MATCHED = "matched"  # true in the rows of a stream; null in a result that has none of it
Select = Mapping[str, Expression]


@dataclass(frozen=True)
class Core:
    """Rows of which a block makes its own; `build` gives the join, with all columns or those that are selected."""

    scope: Scope
    inputs: tuple[Input, ...]
    names: ResultNames
    build: Callable[[Select | None], Any] = field(repr=False)
    nullable: frozenset[int] = frozenset()  # streams of which a result may have no row

    def column(self, ref: Ref) -> Expression:
        """A column of a stream, as an expression over the results."""
        value = self.inputs[ref.place].columns[ref.name]
        return value.with_columns(lambda column: self._in_results(ref.place, column.name))

    def translator(self) -> Translator:
        """Of expressions over these rows."""
        return Translator(self.scope.sql, lambda node: self.column(self.scope.find(node)))

    def value(self, output: Output) -> Expression:
        """A column of the SELECT list, its type checked."""
        if isinstance(output.value, Ref):
            return self.column(output.value)
        return self.checked(self.translator().translate(output.value), output.position)

    def checked(self, value: Expression, place: Place) -> Expression:
        """The same over the results; raises if its types do not fit."""
        return checked_value(value, [self.names.schema()], place)

    def star(self) -> list[tuple[str, Ref]]:
        """What * stands for: the key once, then the other columns that can be seen of each stream."""
        behind = {(ref.place, self.inputs[ref.place].plain(ref.name)): ref for ref in self._refs()}
        plain = [behind[each] for each in self.names.columns() if each in behind]
        shown = [(self.names.of(ref.place, self.inputs[ref.place].plain(ref.name) or ""), ref) for ref in plain]
        computed = [ref for ref in self._refs() if self.inputs[ref.place].plain(ref.name) is None]
        if len(self.inputs) == 1:
            return [(ref.name, ref) for ref in self._refs()]
        return shown + [(ref.name, ref) for ref in computed]

    def is_everything(self, select: Select) -> bool:
        """Whether a selection is nothing but all columns as they are."""
        same = all(repr(value) == name for name, value in select.items())
        return same and list(select) == self.names.schema().names

    def _refs(self) -> list[Ref]:
        return [ref for side in range(len(self.inputs)) for ref in self.scope.refs(side)]

    def _in_results(self, side: int, name: str) -> Expression:
        stream = self.names.streams[side]
        shown = here(self.names.of(side, name))
        if side not in self.nullable or name not in stream.spec.key:
            return shown
        return CaseWhen(((Negation(NullTest(here(self.names.of(side, marker(stream))))), shown),))


def marker(stream: Any) -> str:
    """A column of a stream that is null only where a result has no row of it."""
    spec = stream.spec
    return MATCHED if spec.is_output or spec.time in spec.key else str(spec.time)

"""What `pt.stream` returns: a declared stream that remembers its arguments, so that it can be declared again.

Tables and DataFrames have classes of their own for it, with their data: `local.streams` and `api.stream`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self, Unpack

import pyarrow as pa

from punctuated.bind.declared import DeclaredStream
from punctuated.bind.options import StreamOptions
from punctuated.bind.sources import Source
from punctuated.expressions.nodes import Expression, over
from punctuated.expressions.shape import columns_of
from punctuated.model.spec import StreamSpec


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call of `pt.stream`, and `pt.stream` itself, to declare the stream again."""

    data: Any
    options: StreamOptions
    declare: Callable[..., Any]


@dataclass(frozen=True)
class Stream:
    """A declared stream; `pt.stream` makes it."""

    declared: DeclaredStream
    arguments: Arguments | None = field(default=None, repr=False, compare=False, kw_only=True)

    @property
    def spec(self) -> StreamSpec:
        """How the stream was declared."""
        return self.declared.spec

    @property
    def schema(self) -> pa.Schema:
        """The columns of the tuples, without the column of patterns."""
        return self.declared.schema

    @property
    def punctuations(self) -> Source | None:
        """What says that a key is over."""
        return None if self.arguments is None else self.arguments.options.get("punctuations")

    def with_(self, **changes: Unpack[StreamOptions]) -> Self:
        """This stream with some options changed.

        Args:
            changes: Options of `pt.stream`. `where` and `select` use the columns of this stream: `where` takes some of
                its rows, `select` makes new columns of its columns.

        Example:
            >>> import pyarrow as pa, punctuated as pt
            >>> bids = pt.stream(pa.table({"item": [7, 8], "at": [1, 2]}), name="B", key="item", time="at")
            >>> bids.with_(window="5 minutes", where=pt.column("item") > 7).spec.window
            TimeWindow(span_us=300000000, offset_us=0)
        """
        assert self.arguments is not None, "pt.stream makes streams, and remembers its arguments"
        options = self.arguments.options | changes
        before, now = self.arguments.options.get("where"), changes.get("where")
        made = self._made()
        if now is not None:
            now = now if made is None else over(now, made)
            options["where"] = now if before is None else before & now
        wanted = changes.get("select")
        if wanted is not None and made is not None:
            options["select"] = {name: over(value, made) for name, value in columns_of(wanted, self.schema, "select=")}
        again: Self = self.arguments.declare(self.arguments.data, **options)
        return again

    def _made(self) -> Mapping[str, Expression] | None:
        """The expressions of computed columns; None if the columns are those of the data."""
        shape = self.declared.shape
        return None if shape is None else dict(shape.columns)

"""Options of `pt.stream`: each is spelled once for users, and what passes them on knows all of them."""

import inspect
import pydoc
from typing import Any, get_type_hints

import pyarrow as pa
import pytest

import punctuated as pt
from punctuated.api import stream as declaring
from punctuated.bind.declared import OF_OUTPUTS
from punctuated.bind.options import StreamOptions

TABLE = pa.table({"k": [1, 2], "ts": [0, 1]})
ask: Any = pt.stream  # with options by name
KNOWN = vars(declaring) | {"SparkJoin": object, "Files": object, "DataFrame": object}
PARAMETERS = {
    name: each for name, each in inspect.signature(pt.stream).parameters.items() if each.kind is each.KEYWORD_ONLY
}


def test_the_signature_and_the_options_have_the_same_names_and_types() -> None:
    given = get_type_hints(pt.stream, KNOWN)
    assert list(PARAMETERS) == list(StreamOptions.__annotations__)
    assert {name: given[name] for name in PARAMETERS} == get_type_hints(StreamOptions)


def test_help_shows_every_option_with_its_default_and_its_meaning() -> None:
    shown = pydoc.plain(pydoc.render_doc(pt.stream))
    for name, each in PARAMETERS.items():
        assert f"{name}:" in shown.partition("Args:")[2], f"{name} has no entry in the docstring"
        assert f"= {each.default!r}" in shown.partition("Args:")[0]


def test_an_option_that_a_join_output_has_not_is_refused_there() -> None:
    other = {name: each.default for name, each in PARAMETERS.items() if name not in OF_OUTPUTS}
    assert not any(other.values()), "what is given is told from its default by being true"
    joined = pt.join(*(pt.stream(TABLE, name=name, key="k", time="ts", window=5) for name in "AB"))
    for name in other:
        with pytest.raises(pt.StreamError, match=f"brings its own times and punctuations: leave out {name}$"):
            ask(joined, **{name: "1 hour"})


def test_a_stream_remembers_all_of_its_options() -> None:
    made = pt.stream(TABLE, key="k", time="ts", lateness="1 hour")
    assert made.arguments is not None
    assert list(made.arguments.options) == list(PARAMETERS)
    assert made.with_(window=5).spec.lateness_us == made.spec.lateness_us == 3_600_000_000

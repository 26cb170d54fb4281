"""`PUNCTUATED BY WHEN …` of more than a column: the expression becomes a column of the stream."""

from collections.abc import Sequence

from sqlglot import exp

from punctuated.model.predicate import Expression
from punctuated.sql.dialect import Language, place_of, tokens_of
from punctuated.sql.errors import unknown
from punctuated.sql.inputs import here
from punctuated.sql.place import Place
from punctuated.sql.resolve import is_quoted, match
from punctuated.sql.translate import Translator
from punctuated.sql.words import WordParser


def flag_expression(text: str, behind: Place, stream: str, columns: Sequence[str]) -> Expression:
    """The expression that stands at the end of a place, over columns of a stream with these names."""
    start = behind.end - len(text)
    tokens = [token for token in tokens_of(behind.text) if start <= token.start < behind.end]
    parser = WordParser(dialect=Language)
    parser.begin(tokens, behind.text)
    tree = parser.value("an expression that is true on the last row of a key")

    def column(node: exp.Column) -> Expression:
        if node.table and match(node.table, [stream]) is None:
            raise unknown("stream", node.table, [stream], place_of(node, behind.text))
        found = match(node.name, columns, quoted=is_quoted(node))
        if found is None:
            raise unknown("column", node.name, columns, place_of(node, behind.text))
        return here(found)

    return Translator(behind.text, column).translate(tree)

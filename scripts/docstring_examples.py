"""Examples in docstrings are shown as code: an extension of Griffe, which reads the docstrings of the API reference.

Griffe shows a section `Examples:` as code. Ours are called `Example:`, and the shortest have no heading.
"""

import re
import textwrap
from typing import Any

from griffe import Extension, Object

BARE = re.compile(r"^>>> .*?(?=\n\n|\Z)", re.MULTILINE | re.DOTALL)  # a doctest that stands in no section


class ExamplesAreCode(Extension):
    """Give every example the heading that Griffe knows, before docstrings are parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Of every module, class, function and attribute."""
        if obj.docstring is not None:
            text = obj.docstring.value.replace("\nExample:\n", "\nExamples:\n")
            obj.docstring.value = BARE.sub(lambda bare: "Examples:\n" + textwrap.indent(bare[0], "    "), text)

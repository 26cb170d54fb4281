"""Options of sources and sinks in a script: how they are spelled, and paths among them.

Case does not matter. Spark's readers ignore an option that is misspelt; here it is an error if it resembles one that
the source has.
"""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from punctuated.errors import StreamError
from punctuated.storage.tables.location import LOCAL, has_scheme, split_path

PATH = "path"
LISTING = (  # options of Spark's file source about which files there are, not about what is in them
    *("maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly", "cleanSource"),
    *("sourceArchiveDir", "pathGlobFilter", "modifiedBefore", "modifiedAfter", "recursiveFileLookup", "basePath"),
)
_ALIKE = 0.85  # names that differ by more may be options that a new Spark has
_OF_FILES = (PATH, *LISTING)
_OF_TEXTS = (
    *("encoding", "lineSep", "mode", "columnNameOfCorruptRecord", "dateFormat", "timestampFormat", "locale"),
    *("timestampNTZFormat", "timeZone", "samplingRatio", "multiLine", "enableDateTimeParsingFallback"),
)
_OPTIONS: Mapping[str, tuple[str, ...]] = {
    "parquet": (*_OF_FILES, "lane", "mergeSchema", "datetimeRebaseMode", "int96RebaseMode"),
    "delta": (
        *_OF_FILES,
        "startingVersion",
        "startingTimestamp",
        "ignoreDeletes",
        "ignoreChanges",
        "skipChangeCommits",
    ),
    "csv": (
        *(*_OF_FILES, *_OF_TEXTS, "header", "sep", "delimiter", "quote", "escape", "comment", "inferSchema"),
        *("enforceSchema", "ignoreLeadingWhiteSpace", "ignoreTrailingWhiteSpace", "nullValue", "nanValue"),
        *("positiveInf", "negativeInf", "maxColumns", "maxCharsPerColumn", "emptyValue", "charToEscapeQuoteEscaping"),
        *("unescapedQuoteHandling", "preferDate"),
    ),
    "json": (
        *(*_OF_FILES, *_OF_TEXTS, "primitivesAsString", "prefersDecimal", "allowComments", "allowUnquotedFieldNames"),
        *("allowSingleQuotes", "allowNumericLeadingZeros", "allowBackslashEscapingAnyCharacter", "dropFieldIfAllNull"),
        *("allowUnquotedControlChars", "allowNonNumericNumbers", "ignoreNullFields"),
    ),
    "rate": ("rowsPerSecond", "rampUpTime", "numPartitions"),
}
_BOOLEANS = {"true": True, "false": False}


def check_spelling(stream: str, source: str, options: Mapping[str, str]) -> None:
    """Raise if an option of a stream is none of its source but almost one."""
    known = {each.lower(): each for each in _OPTIONS.get(source, ())}
    for name in options:
        similar = get_close_matches(name.lower(), known, n=1, cutoff=_ALIKE)
        if similar and name.lower() not in known:
            meant = known[similar[0]]
            raise StreamError(f"stream {stream!r}: {source!r} has no option {name}; did you mean {meant!r}?")


def read_boolean(name: str, text: str) -> bool:
    """The value of an option that is true or false."""
    if text.lower() not in _BOOLEANS:
        raise StreamError(f"option {name}={text!r}: give true or false")
    return _BOOLEANS[text.lower()]


def from_folder(path: str, folder: Path) -> str:
    """A path of a script in this folder, as an absolute path or a URL.

    >>> from_folder("out/x", Path("/home/me")), from_folder("s3a://bucket/x", Path("/home/me"))
    ('/home/me/out/x', 's3a://bucket/x')
    """
    return path if has_scheme(path) else os.path.normpath(folder.absolute() / Path(path).expanduser())


def with_path(options: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The options of a script in this folder, with an absolute path or a URL as their path."""
    found = option_named(PATH, options)
    return {name: from_folder(text, folder) if name == found else text for name, text in options.items()}


def option_named(wanted: str, options: Mapping[str, str]) -> str | None:
    """The spelling of an option among these; None if it is not among them."""
    return next((name for name in options if name.lower() == wanted.lower()), None)


def take_option(wanted: str, options: dict[str, str]) -> str | None:
    """Remove an option from these and return its value; None if it is not among them."""
    name = option_named(wanted, options)
    return None if name is None else options.pop(name)


def local_path(path: str) -> Path | None:
    """The path as one of this host; None if it lies elsewhere."""
    scheme, _, inside = split_path(path)
    return Path(inside) if scheme == LOCAL else None

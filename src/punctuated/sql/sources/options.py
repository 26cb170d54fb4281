"""Options of sources and sinks in a script."""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path

from punctuated.errors import StreamError
from punctuated.storage.tables.file_systems import LOCAL, has_scheme, split_path

_ALIKE = 0.85  # names that differ by more may be options that a new Spark has
_OF_FILES = (
    *("path", "maxFilesPerTrigger", "maxBytesPerTrigger", "maxFileAge", "latestFirst", "fileNameOnly", "cleanSource"),
    *("sourceArchiveDir", "pathGlobFilter", "modifiedBefore", "modifiedAfter", "recursiveFileLookup", "basePath"),
)
_OF_TEXTS = (
    *("encoding", "lineSep", "mode", "columnNameOfCorruptRecord", "dateFormat", "timestampFormat", "locale"),
    *("timestampNTZFormat", "timeZone", "samplingRatio", "multiLine", "enableDateTimeParsingFallback"),
)
KNOWN: Mapping[str, tuple[str, ...]] = {
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
_TRUTHS = {"true": True, "false": False}
PATH = "path"


def check_spelling(stream: str, source: str, options: Mapping[str, str]) -> None:
    """Raise if an option is almost one that its source has."""
    known = {each.lower(): each for each in KNOWN.get(source, ())}
    for name in options:
        near = get_close_matches(name.lower(), known, n=1, cutoff=_ALIKE)
        if near and name.lower() not in known:
            raise StreamError(f"stream {stream!r}: {source!r} has no option {name}; did you mean {known[near[0]]!r}?")


def truth_of(name: str, text: str) -> bool:
    """An option that is true or false."""
    if text.lower() not in _TRUTHS:
        raise StreamError(f"option {name}={text!r}: give true or false")
    return _TRUTHS[text.lower()]


def from_folder(path: str, folder: Path) -> str:
    """A path as it is seen from anywhere.

    >>> from_folder("out/x", Path("/home/me")), from_folder("s3a://bucket/x", Path("/home/me"))
    ('/home/me/out/x', 's3a://bucket/x')
    """
    return path if has_scheme(path) else os.path.normpath(folder.absolute() / Path(path).expanduser())


def with_path(options: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The same options, `path` among them as it is seen from anywhere."""
    found = option_named(PATH, options)
    return {name: from_folder(text, folder) if name == found else text for name, text in options.items()}


def option_named(wanted: str, options: Mapping[str, str]) -> str | None:
    """How an option is spelled, if it is given: case does not matter."""
    return next((name for name in options if name.lower() == wanted.lower()), None)


def take_option(wanted: str, options: dict[str, str]) -> str | None:
    """The value of an option, taken out of them."""
    name = option_named(wanted, options)
    return None if name is None else options.pop(name)


def local_path(path: str) -> Path | None:
    """The path on this host, if it is one."""
    scheme, _, inside = split_path(path)
    return Path(inside) if scheme == LOCAL else None

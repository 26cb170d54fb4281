"""Options of sources, by which Spark's readers would do nothing if they are misspelt: the slips that can be seen."""

from collections.abc import Mapping
from difflib import get_close_matches

from punctuated.errors import StreamError

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

"""Why a row does not take part, and what can be done about it."""

REJECTIONS = {  # in the order of the kernels' codes; corrupt rows never come to them
    "late": "they came behind their stream's watermark or after its end; a larger lateness= waits for them",
    "ahead": "they are too far ahead of their stream's newest time; a larger max_ahead= admits them",
    "promise": "a punctuation of their own stream had ended them; on_violation='accept' joins them with what is left",
    "after_output": "their key was over in the output already",
    "corrupt": "each says what is wrong with it",
}


def describe_rejection(stream: str, reason: str, n_rows: int, remedy: str) -> str:
    """A warning about rows of a stream; `remedy` says how to see them.

    >>> describe_rejection("B", "after_output", 4000, "see …")
    "stream 'B': 4,000 rows rejected as after_output, in no result: their key was over in the output already; see …"
    """
    rows = "1 row" if n_rows == 1 else f"{n_rows:,} rows"
    return f"stream {stream!r}: {rows} rejected as {reason}, in no result: {REJECTIONS[reason]}; {remedy}"

"""What went wrong in Spark, in one line."""


def cause_of(error: Exception) -> str:
    """What was thrown at first, without the traces of those who heard of it."""
    lines = str(error).strip().splitlines()
    first = [line.removeprefix("Caused by: ") for line in lines if line.startswith("Caused by: ")]
    thrown = [line.removeprefix(": ") for line in lines if line.startswith(": ")]  # behind Py4J's own first line
    return [*first[-1:], *thrown, *lines, type(error).__name__][0]

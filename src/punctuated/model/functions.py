"""The functions of expressions: their names, those of SQL, and how many arguments they take."""

from punctuated.errors import PredicateError
from punctuated.model.arguments import hint_of

_ANY = 1_000_000_000  # any number of arguments

FUNCTIONS: dict[str, tuple[int, int]] = {
    # numbers
    "abs": (1, 1),
    "ceil": (1, 1),
    "floor": (1, 1),
    "round": (1, 2),
    "sqrt": (1, 1),
    "power": (2, 2),
    "exp": (1, 1),
    "ln": (1, 1),
    "log10": (1, 1),
    "sign": (1, 1),
    "mod": (2, 2),
    "divide": (2, 2),
    # whatever the type
    "greatest": (1, _ANY),
    "least": (1, _ANY),
    "coalesce": (1, _ANY),
    "nullif": (2, 2),
    "if": (3, 3),
    "in": (2, _ANY),
    "field": (2, 2),  # of a struct, by its name
    # texts
    "upper": (1, 1),
    "lower": (1, 1),
    "length": (1, 1),
    "trim": (1, 2),
    "ltrim": (1, 2),
    "rtrim": (1, 2),
    "substring": (2, 3),
    "replace": (3, 3),
    "concat": (1, _ANY),
    "starts_with": (2, 2),
    "ends_with": (2, 2),
    "like": (2, 2),
    "ilike": (2, 2),
    "regexp_like": (2, 2),
    # times
    "year": (1, 1),
    "quarter": (1, 1),
    "month": (1, 1),
    "day": (1, 1),
    "hour": (1, 1),
    "minute": (1, 1),
    "second": (1, 1),
    "dayofweek": (1, 1),
    "date_trunc": (2, 2),
    "date": (1, 1),
    "epoch": (1, 1),
}


def check_call(function: str, n_arguments: int) -> None:
    """Raise if there is no such function, or it takes another number of arguments."""
    if function not in FUNCTIONS:
        raise PredicateError(f"there is no function {function!r}; {hint_of(function, FUNCTIONS, 'known')}")
    least, most = FUNCTIONS[function]
    if not least <= n_arguments <= most:
        wanted = f"{least}" if least == most else f"{least} or more" if most == _ANY else f"{least} to {most}"
        raise PredicateError(f"{function} takes {wanted} argument{'s' * (wanted != '1')}, not {n_arguments}")

"""Durations for people: in the unit that fits, three significant digits, never rounded to nothing."""

_UNITS = (("s", 1_000_000_000), ("ms", 1_000_000), ("µs", 1_000))


def format_duration(ns: int) -> str:
    """Formats a duration given in nanoseconds: `18.2 ms`, `399 µs`, `46 ns`, `2.5 s`."""
    if ns < 0:
        return f"-{format_duration(-ns)}"
    for unit, size in _UNITS:
        # 999.5 of a unit would print as 1000: it belongs to the next larger one.
        if ns >= size * 0.9995:
            return f"{_three_digits(ns / size)} {unit}"
    return f"{ns} ns"


def counted(number: int, noun: str) -> str:
    """A number with its noun: `1 wait`, `4 waits`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _three_digits(value: float) -> str:
    decimals = 2 if value < 9.995 else 1 if value < 99.95 else 0
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if decimals else text

"""Quantities with units: text like ``6.1 TB/s`` to a float in the unit asked for, and back from names.

Sizes are decimal (1 TB = 1e12 B), a year is 365.25 days, a quarter a fourth of it. Currencies are a
dimension of their own and are never converted into each other.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pint

_NUMBER = r"[-+]?(?:\d+(?:_\d{3})*(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*(.*?)\s*")
_PLAIN = re.compile(_NUMBER)
_GERMAN = re.compile(r"[-+]?\d+(\.\d{3})*,\d+")
_AMBIGUOUS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_GROUPED = re.compile(r"[-+]?\d{1,3}(,\d{3})+(\.\d+)?")
_SPACED_PREFIX = re.compile(r"\b(?:([kMB])\s+(?=USD\b|EUR\b)|(k?g|M?t)\s+(?=CO2e\b))")
_QUARTERS = re.compile(r"\bquarters?\b")
_WORD = r"(?:1000|1|%|[A-Za-zµ][A-Za-z0-9_µ]*)"
_UNIT = re.compile(rf"{_WORD}(?:\s*(?:/|\bper\b|\*|\s)\s*{_WORD})*")
"""Units are words joined by ``/``, ``per``, ``*`` or a blank: nothing else reaches the unit parser."""

_DEFINITIONS = (
    "USD = [currency_usd]",
    "EUR = [currency_eur]",
    "BUSD = 1e9 USD",
    "BEUR = 1e9 EUR",
    "gCO2e = [co2e] = gco2e",
    "kgCO2e = 1e3 gCO2e = kgco2e",
    "tCO2e = 1e6 gCO2e = tco2e",
    "MtCO2e = 1e12 gCO2e = mtco2e",
    "FLOP = [flop] = flop",
    "sample = [sample] = samples",
    "billion_samples = 1e9 sample",
    "device = [device] = devices",
    "node = [node] = nodes",
    "rack = [rack] = racks",
    "calendar_quarter = 0.25 * year",
    "fraction = []",
)

_WORDS: dict[str, str] = {
    "w": "W",
    "kw": "kW",
    "mw": "MW",
    "gw": "GW",
    "kwh": "kWh",
    "mwh": "MWh",
    "usd": "USD",
    "musd": "MUSD",
    "b": "B",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "tflops": "TFLOP/s",
    "kgco2e": "kgCO2e",
    "gco2e": "gCO2e",
    "g": "gCO2e",
    "t": "tCO2e",
    "mt": "MtCO2e",
    "s": "s",
    "ms": "ms",
    "us": "us",
    "days": "day",
    "weeks": "week",
    "months": "month",
    "quarters": "quarter",
    "years": "year",
    "year": "year",
    "quarter": "quarter",
    "run": "run",
    "racks": "rack",
    "rack": "rack",
    "devices": "device",
    "device": "device",
    "samples": "sample",
    "share": "fraction",
    "factor": "fraction",
    "ratio": "fraction",
}
"""Words that may end a column name (singular forms stand after ``_per_``), with their unit."""

_AFTER_PER = frozenset({"s", "year", "quarter", "rack", "device", "mwh", "kwh", "w", "run", "t"})
_WHOLE: dict[str, str] = {
    "usd_per_billion_samples": "USD/billion_samples",
    "w_per_cap_w": "W/W",
    "per_1000_node_days": "1/node/day/1000",
    "musd_per_rack_quarter": "MUSD/rack/quarter",
    "musd_per_facility_mw_year": "MUSD/MW/year",
    "g_per_kwh": "gCO2e/kWh",
    "gco2e_per_kwh": "gCO2e/kWh",
    "t_per_rack": "tCO2e/rack",
    "usd_per_t": "USD/tCO2e",
    "mt_per_year": "MtCO2e/year",
}


@lru_cache(maxsize=1)
def registry() -> pint.UnitRegistry[Any]:
    """Return the one unit registry, built on first use: pint's own plus money, carbon, work and racks."""
    import pint

    units: pint.UnitRegistry[Any] = pint.UnitRegistry(cache_folder=None)
    for definition in _DEFINITIONS:
        units.define(definition)
    return units


def parse_number(text: str) -> float:
    """Read a plain decimal number; raise ``ValueError`` that says what would be right.

    Decimal commas, grouped thousands, NaN and infinities are refused: each of them is a value in
    some locale or tool, and a guess would change a plan without a word.
    """
    stripped = text.strip()
    if _PLAIN.fullmatch(stripped):
        number = float(stripped.replace("_", ""))
        if abs(number) != float("inf"):
            return number
        message = f"{text!r} is too large to be meant"
        raise ValueError(message)
    raise ValueError(_why_not_a_number(stripped))


def _why_not_a_number(text: str) -> str:
    if text == "":
        return "the number is blank; write 0 if it is zero"
    if _AMBIGUOUS.fullmatch(text):
        return (
            f"{text!r} can be read in two ways; write {text.replace(',', '')!r} or {text.replace(',', '.')!r}"
        )
    if _GERMAN.fullmatch(text):
        return f"{text!r} has a decimal comma; write {text.replace('.', '').replace(',', '.')!r}"
    if _GROUPED.fullmatch(text):
        return f"{text!r} has grouped thousands; write {text.replace(',', '')!r}"
    if text.lower().lstrip("+-") in {"nan", "inf", "infinity", "na", "n/a", "null", "none"}:
        return f"{text!r} is not a finite number; a limit that does not exist is left out, not infinite"
    return f"{text!r} is not a number"


def parse_quantity(text: str, unit: str) -> float:
    """Read ``text``, a number with its unit, and return it in ``unit``.

    ``parse_quantity("6.1 TB/s", "TB/s") == 6.1``, ``parse_quantity("18 k USD", "MUSD") == 0.018``.
    A missing unit, a unit of another dimension and anything that is not one finite number raise
    ``ValueError`` with what would be right. For ``unit`` ``""`` or ``fraction`` a bare number is
    right, and so is ``%``.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None or re.match(r"[,.\d]", match[2]):
        head = re.split(r"\s", text.strip(), maxsplit=1)[0]
        raise ValueError(_why_not_a_number(text.strip() if _PLAIN.fullmatch(head) else head))
    number, written = parse_number(match[1]), match[2]
    if written == "":
        if _is_plain(unit):
            return number
        message = f"{text.strip()!r} has no unit; write '{match[1]} {unit}'"
        raise ValueError(message)
    return float(f"{number * conversion_factor(written, unit):.15g}")


def carries_unit(text: str) -> bool:
    """Whether a number in ``text`` is followed by a unit (``9e12`` is a number, ``9 EW`` is not only one)."""
    match = _QUANTITY.fullmatch(text)
    return match is not None and match[2] != "" and _PLAIN.fullmatch(text.strip()) is None


@lru_cache(maxsize=4096)
def conversion_factor(written: str, unit: str) -> float:
    """How many ``unit`` one ``written`` is; ``ValueError`` if unknown or of another dimension."""
    import pint

    if len(written) > 80 or not _UNIT.fullmatch(written):
        message = f"unit {written[:80]!r} is not known; expected {unit or 'a plain number'!r}"
        raise ValueError(message)
    units, target = registry(), "dimensionless" if _is_plain(unit) else unit
    try:
        source = units.Quantity(1.0, units.parse_units(_tidy(written)))
        return float(source.to(units.parse_units(_tidy(target))).magnitude)
    except pint.DimensionalityError:
        message = f"got {written!r}, expected {unit or 'a plain number'!r} or a multiple of it"
    except (pint.PintError, ValueError, TypeError, AttributeError):
        message = f"unit {written!r} is not known; expected {unit or 'a plain number'!r}"
    raise ValueError(message) from None


def column_unit(column_name: str) -> str | None:
    """Return the unit that a column's name ends in, or ``None``: ``price_musd_per_rack`` gives ``MUSD/rack``.

    The unit can be passed to :func:`parse_quantity`. Shares and factors give ``fraction``.
    """
    name = column_name.lower()
    for suffix, unit in _WHOLE.items():
        if name == suffix or name.endswith("_" + suffix):
            return unit
    parts = name.split("_")
    if len(parts) >= 2 and parts[-2] == "per" and parts[-1] in _AFTER_PER:
        above = _WORDS.get(parts[-3], "1") if len(parts) >= 3 else "1"
        return f"{above}/{_WORDS[parts[-1]]}"
    return _WORDS.get(parts[-1]) if parts[-1] not in {"rack", "device", "run", "year", "quarter"} else None


def _is_plain(unit: str) -> bool:
    return unit in {"", "fraction", "dimensionless"}


def _tidy(unit: str) -> str:
    joined = _SPACED_PREFIX.sub(lambda match: match[1] or match[2], unit.strip())
    return _QUARTERS.sub("calendar_quarter", joined).replace("FLOPS", "FLOP/s").replace("%", "percent")

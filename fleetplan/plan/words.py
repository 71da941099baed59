"""How numbers are said to a planner: money, power, shares and lists, always in the same way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def money(musd: float, *, sign: bool = False) -> str:
    """M USD as ``11.59 B USD``, ``340 M USD`` or ``0.41 M USD``."""
    plus = "+" if sign and musd > 0 else ""
    if abs(musd) >= 1000:
        return f"{plus}{musd / 1000:,.2f} B USD"
    return f"{plus}{number(musd)} M USD"


def megawatts(mw: float) -> str:
    """``436 MW`` or ``2.6 MW``."""
    return f"{mw:,.0f} MW" if abs(mw) >= 100 else f"{number(mw)} MW"


def percent(share: float) -> str:
    """Write a share as a percentage with as many digits as it needs."""
    value = share * 100
    if value and abs(value) < 0.01:
        return "under 0.01 %" if value > 0 else "above -0.01 %"
    if abs(value) >= 99.995 or value == 0 or abs(value) >= 10:
        text = f"{value:.0f}" if abs(value - round(value)) < 0.005 or abs(value) < 99 else f"{value:.2f}"
        return f"{text} %"
    return f"{value:.2g} %"


def number(value: float | None) -> str:
    """Three significant digits at least, thousands with commas, no trailing zeros."""
    if value is None:
        return "unknown"
    if abs(value) >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def racks_of(count: float, adjective: str = "") -> str:
    """Write ``1 rack`` or ``12 committed racks``."""
    return f"{number(count)} {adjective}rack" + ("" if count == 1 else "s")


def join(items: Sequence[str]) -> str:
    """Join: ``a``, ``a and b``, ``a, b and c``."""
    if len(items) < 2:
        return "".join(items)
    return f"{', '.join(items[:-1])} and {items[-1]}"

"""Near names: what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like ``name``; ``None`` if nothing is near.

    Beside spelling it knows shortened names: ``altoona`` is near ``altoona-ia``.
    """
    names = sorted(set(known))
    lower = {known_name.lower(): known_name for known_name in reversed(names)}
    wanted = name.strip().lower()
    if wanted in lower:
        return lower[wanted]
    close = get_close_matches(wanted, list(lower), n=1, cutoff=0.7)
    if close:
        return lower[close[0]]
    parts = [
        known_name
        for known_name in lower
        if len(wanted) > 2 and (wanted in known_name or known_name in wanted)
    ]
    best = max(sorted(parts), key=lambda text: SequenceMatcher(None, wanted, text).ratio(), default=None)
    return lower[best] if best else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a fix: the nearest name, or the known ones where they are few."""
    names = sorted(set(known))
    near = nearest(name, names)
    if near:
        return f"did you mean {near!r}?"
    if not names:
        return "none is declared"
    shown = ", ".join(names[:12])
    return f"known: {shown}" + (f" and {len(names) - 12} more" if len(names) > 12 else "")

"""One colour per accelerator, the same in every chart of every report.

Families keep a hue that stays apart under the common colour-vision deficiencies (Meta blue, NVIDIA
air-cooled yellow to brown, NVIDIA rack-scale green, AMD pink to purple); within a family lightness
falls with the generation. A name that is not listed gets a colour from its own text alone, so that
it does not change with the plan it stands in.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable

KNOWN = {
    "a100-80g": "#f7e08b",
    "a100": "#f7e08b",
    "h100-500w": "#f2c14e",
    "h100-sxm": "#e69f00",
    "h100": "#e69f00",
    "h200-sxm": "#d17a00",
    "h200": "#d17a00",
    "b200-hgx": "#b4560e",
    "b200": "#b4560e",
    "b300-hgx": "#8a3b12",
    "b300": "#8a3b12",
    "gb200-nvl72": "#8fd9b6",
    "gb200": "#8fd9b6",
    "gb300-nvl72": "#2bb583",
    "gb300": "#2bb583",
    "vr200-nvl144": "#00755a",
    "vr200": "#00755a",
    "mi300x": "#f0bcd8",
    "mi325x": "#dd93bf",
    "mi355x": "#c76aa4",
    "mi455x": "#83296b",
    "mtia-300": "#9bd3f5",
    "mtia-400": "#56b4e9",
    "mtia-450": "#1f86c9",
    "mtia-500": "#0b4f8a",
}
"""Colours after Okabe and Ito, lightened and darkened by generation: https://jfly.uni-koeln.de/color/"""


def colour(name: str) -> str:
    """The colour of an accelerator as ``#rrggbb``."""
    return KNOWN.get(name) or _from_text(name)


def in_order(names: Iterable[str]) -> list[str]:
    """Names as they are stacked and listed: families together, generations rising, unknown names last."""
    rank = {name: at for at, name in enumerate(KNOWN)}
    return sorted(names, key=lambda name: (rank.get(name, len(rank)), name))


def palette(names: Iterable[str]) -> dict[str, str]:
    """Colours of several accelerators, in their order."""
    return {name: colour(name) for name in names}


def _from_text(name: str) -> str:
    """Hue and lightness from the SHA-256 of the name, in OKLCH at a chroma every screen can show."""
    digest = hashlib.sha256(name.encode()).digest()
    hue = int.from_bytes(digest[:2], "big") / 65536 * 2 * math.pi
    lightness = (0.55, 0.67, 0.79)[digest[2] % 3]
    return _oklab(lightness, 0.1 * math.cos(hue), 0.1 * math.sin(hue))


def _oklab(lightness: float, a: float, b: float) -> str:
    """OKLab to sRGB. Source: https://bottosson.github.io/posts/oklab/."""
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    linear = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{_channel(value):02x}" for value in linear)


def _channel(linear: float) -> int:
    clipped = min(1.0, max(0.0, linear))
    curved = 12.92 * clipped if clipped <= 0.0031308 else 1.055 * clipped ** (1 / 2.4) - 0.055
    return round(255 * curved)

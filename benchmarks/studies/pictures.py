"""The charts of a study's page as SVG files for the documentation.

python -m benchmarks.studies.pictures reports/offload docs/images/breakeven.svg
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import vl_convert

_SPECS = re.compile(r"<script type='application/json' id=specs>(?P<specs>.*?)</script>", re.DOTALL)


def main(study: str, picture: str) -> None:
    """Write the first chart of ``study.html``."""
    found = _SPECS.search((Path(study) / "study.html").read_text(encoding="utf-8"))
    if found is None:
        message = f"{study} has no charts"
        raise SystemExit(message)
    spec = json.loads(found["specs"])[0]
    if spec.get("width") == "container":
        spec["width"] = 560
    Path(picture).write_text(vl_convert.vegalite_to_svg(spec), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])

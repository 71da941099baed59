"""The charting library as one script, to be inlined in a page that opens offline.

Bundling takes seconds and depends on nothing but the version of vl-convert, so the script is kept in
the user's cache folder. A cache that is missing, spoilt or not writable costs time and nothing else.
"""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from tempfile import NamedTemporaryFile


@cache
def vega_bundle() -> str:
    """Vega, Vega-Lite and Vega-Embed as one script, taken from vl-convert: same versions as its renderer."""
    import vl_convert
    from platformdirs import user_cache_path

    kept = user_cache_path("fleetplan") / f"vega-{version('vl-convert-python')}.js"
    script = _read(kept)
    if script is None:
        bundle: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
        script = f"(()=>{{{bundle}}})();".replace("</script", "<\\/script")
        _keep(kept, script)
    return script


def _read(kept: Path) -> str | None:
    """The kept script, if its first line is the digest of the rest."""
    try:
        digest, _, script = kept.read_bytes().partition(b"\n")
    except OSError:
        return None
    return script.decode() if digest == _digest(script) else None


def _keep(kept: Path, script: str) -> None:
    """Keep the script, whole or not at all; a folder that cannot be written is no reason to stop."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=kept.parent, delete=False) as file:
            file.write(_digest(script.encode()) + b"\n" + script.encode())
        Path(file.name).replace(kept)
    except OSError:
        return


def _digest(script: bytes) -> bytes:
    return sha256(script).hexdigest().encode()

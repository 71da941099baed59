"""The charting library's script: kept between runs, and made anew when what was kept is spoilt."""

from __future__ import annotations

from pathlib import Path

import pytest

from fleetplan.report import bundle
from fleetplan.report.bundle import vega_bundle


@pytest.fixture
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An own cache folder; what other tests of this process had made is forgotten."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    vega_bundle.cache_clear()
    return tmp_path / "fleetplan"


def test_a_second_run_reads_what_the_first_has_kept_and_a_spoilt_one_is_made_anew(cache_folder: Path) -> None:
    first = vega_bundle()
    assert "vegaEmbed" in first
    assert "</script" not in first
    (kept,) = cache_folder.iterdir()
    made_at = kept.stat().st_mtime_ns
    vega_bundle.cache_clear()
    assert vega_bundle() == first
    assert kept.stat().st_mtime_ns == made_at
    kept.write_bytes(kept.read_bytes()[:-100])
    vega_bundle.cache_clear()
    assert vega_bundle() == first
    assert kept.stat().st_mtime_ns != made_at


def test_a_cache_that_cannot_be_written_costs_nothing_but_time(cache_folder: Path) -> None:
    cache_folder.write_text("a file where the folder should be")
    bundle._keep(cache_folder / "vega.js", "script")
    assert bundle._read(cache_folder / "vega.js") is None

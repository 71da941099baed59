"""Spoilt scenarios: each is answered by located faults or loads; none ends in a traceback.

``FLEETPLAN_FUZZ_CASES`` sets the number of cases (the long form is ``make fuzz``).
"""

from __future__ import annotations

import os
import random
import shutil
from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fleetplan.errors import InputError
from fleetplan.inputs.load import check_scenario
from fleetplan.inputs.reader import read_csv
from fleetplan.inputs.rules import RULES
from fleetplan.inputs.values import content_hash
from fleetplan.inputs.yamlfile import read_yaml
from tests.inputs.faults import SMALL
from tests.inputs.fuzzing import spoil

CASES = int(os.environ.get("FLEETPLAN_FUZZ_CASES", "60"))
SEED = int(os.environ.get("FLEETPLAN_FUZZ_SEED", "20261130"))


def answer(folder: Path) -> str:
    """Check a folder; return how it was answered. Anything but faults or a scenario escapes."""
    try:
        report = check_scenario(folder)
    except InputError as error:
        faults, scenario = tuple(error.faults), None
        assert faults
    else:
        faults, scenario = report.faults, report.scenario
    for one in faults:
        assert one.rule in RULES
        assert one.message
        assert one.file
        assert str(one)
    if scenario is None:
        assert any(one.severity == "error" for one in faults)
        return "refused"
    assert len(content_hash(scenario)) == 64
    return "loaded with warnings" if faults else "loaded"


def test_spoilt_scenarios_are_answered_and_never_crash(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    for case in range(CASES):
        rng = random.Random(SEED + case)
        folder = tmp_path / "case"
        shutil.copytree(SMALL, folder)
        done = spoil(rng, folder)
        try:
            counts[answer(folder)] += 1
        except Exception as error:
            error.add_note(f"seed {SEED + case}: {done}")
            raise
        shutil.rmtree(folder)
    print(f"fuzz: {CASES} cases, {dict(counts)}")  # noqa: T201 - the counts are asked for
    assert counts["refused"] > CASES / 3


@settings(max_examples=150, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_as_a_table_are_a_table_or_a_fault(data: bytes) -> None:
    table, faults = read_csv(data, "any.csv")
    assert (table is None) == bool(faults)


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_any_text_as_yaml_is_nodes_or_faults(text: str) -> None:
    node, faults = read_yaml(text, "any.yaml")
    assert node is not None or faults

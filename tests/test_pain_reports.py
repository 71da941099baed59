"""Reports of other tools' users that no test of one room holds: small scenarios from input to plan."""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from fleetplan.api import Settings, optimize, prepare
from fleetplan.errors import FleetplanError
from fleetplan.explain.horizon import longer
from fleetplan.inputs.load import check_scenario, load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import with_value
from fleetplan.performance import performance_table
from fleetplan.plan.plan import Plan
from tests.inputs.faults import Workshop


@cache
def options() -> pd.DataFrame:
    return performance_table(load_scenario("small-2026"))


def made(scenario: Scenario, **settings: int) -> Plan:
    return optimize(scenario, options=options(), gap=0.02, **settings)


@cache
def plain() -> Plan:
    return made(load_scenario("small-2026"))


def test_another_count_of_threads_makes_a_plan_and_threads_as_an_option_of_highs_is_refused_by_name() -> None:
    """P018: a changed thread count came out as a failed model."""
    two = made(load_scenario("small-2026"), threads=2)
    assert two.audit.passed
    assert two.cost_musd == pytest.approx(plain().cost_musd, rel=0.02)
    with pytest.raises(FleetplanError, match=r"threads is set by threads") as refused:
        optimize(load_scenario("small-2026"), options=options(), solver_options={"threads": 2})
    assert "infeasible" not in str(refused.value)


def test_generations_of_unlike_power_end_in_one_plan_each_with_its_own_watts() -> None:
    """P043: units were counted although their size had changed, so that what must end could not."""
    scenario = with_value(load_scenario("small-2026"), "lifecycle.maximum_age_quarters", 14)
    scenario = with_value(scenario, "lifecycle.minimum_age_quarters", 4)
    plan = made(scenario)
    assert plan.audit.passed
    last = scenario.horizon[-1].name
    old = {row.accelerator for row in scenario.fleet if last not in _years_left(row.commissioned, 14)}
    assert {"h100-500w"} <= old
    kept = plan.fleet[(plan.fleet["period"] == last) & plan.fleet["accelerator"].isin(old)]
    assert kept["racks"].sum() == pytest.approx(0.0, abs=1e-6)


def _years_left(commissioned: object, quarters: int) -> set[str]:
    return {str(commissioned + offset) for offset in range(quarters)}  # type: ignore[operator]


def test_a_second_rate_is_refused_with_both_places(tmp_path: Path) -> None:
    """P046: three places for one rate. Here one item, and a second row of it names the first."""
    shop = Workshop(tmp_path)
    cells = shop.cells("finance")
    (line,) = [number for number, row in enumerate(cells, start=1) if row[0] == "discount_rate"]
    shop.write("finance", [*cells, ["discount_rate", "all", "0.05", *cells[line - 1][3:]]])
    (fault,) = [one for one in check_scenario(shop.folder).errors if one.rule == "E008"]
    assert fault.line == len(cells) + 1
    assert str(line) in fault.message
    assert "discount_rate" in f"{fault.message}{fault.field}"


def test_money_that_is_spent_already_is_a_line_of_its_own_within_the_total() -> None:
    """P054: sunk cost was in one total and not in the other."""
    ledger = plain().ledger
    sunk = ledger[ledger["sunk"]]
    assert (sunk["item"] == "capex").any()
    assert "energy" in set(ledger.loc[~ledger["sunk"], "item"])
    assert ledger["npv_musd"].sum() == pytest.approx(plain().cost_musd, rel=1e-9)


def test_racks_past_their_life_are_gone_from_the_plan_and_never_stop_it() -> None:
    """P066: old assets stopped the run with an obscure error."""
    scenario = load_scenario("small-2026")
    for path, quarters in (("minimum", 4), ("maximum", 10)):
        scenario = with_value(scenario, f"lifecycle.{path}_age_quarters", quarters)
    past = {
        str(row.commissioned) for row in scenario.fleet if scenario.horizon.start - row.commissioned >= 10
    }
    assert past
    plan = made(scenario)
    assert plan.audit.passed
    assert not plan.fleet["vintage"].isin(past).any()


def test_one_thread_and_one_seed_are_the_default_and_are_recorded() -> None:
    """P119: equal runs took 56 s to ten minutes with threads chosen by the machine."""
    assert (Settings().threads, Settings().seed) == (1, 0)
    assert (plain().manifest.threads, plain().manifest.seed) == (1, 0)


def test_the_model_grows_with_the_number_of_periods_and_not_much_faster() -> None:
    """P162: a long run died while the model was written."""
    short = load_scenario("small-2026")
    long = longer(longer(short))
    assert len(long.horizon) > 2 * len(short.horizon)
    periods = len(long.horizon) / len(short.horizon)
    assert coefficients(long) < periods**1.5 * coefficients(short)


def coefficients(scenario: Scenario) -> int:
    return prepare(scenario, options=options()).compiled.entries


def test_build_and_hand_off_are_timed_apart() -> None:
    """P165: a slower hand-off went unnoticed within the build."""
    seconds = plain().manifest.timings_s
    assert {"model", "hand-off", "solve"} <= seconds.keys()
    assert all(value >= 0 for value in seconds.values())


LITTLE = """
import resource
from pathlib import Path
import pyomo.environ, pandas
from fleetplan import api, planning, performance
from fleetplan.cli import optimize, scenarios
from fleetplan.solving import compile, recipe
from fleetplan.__main__ import run
from fleetplan.inputs.load import load_scenario
load_scenario("small-2026")
pages = int(Path("/proc/self/statm").read_text().split()[0])
resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + 8 * 2**20, -1))
run()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits of Linux")
def test_too_little_memory_is_one_clear_line(tmp_path: Path) -> None:
    """P160: after the memory ran out an unrelated error appeared."""
    child = subprocess.run(
        [sys.executable, "-c", LITTLE, "optimize", "public-2026", "-o", str(tmp_path / "plan"), "-q"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert child.returncode == 8, child.stderr
    assert child.stderr.startswith("The memory of this machine is too small for this scenario.")
    assert "Traceback" not in child.stderr
    assert not list(tmp_path.iterdir())

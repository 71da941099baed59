"""The audit passes every plan of the planner and fails every plan that was tampered with."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest
from rough_options import options_for

from fleetplan.errors import AuditError
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import with_factor, with_value
from fleetplan.periods import Horizon, Quarter
from fleetplan.plan.audit import audit, require
from fleetplan.plan.audit_report import AuditReport, Checker
from fleetplan.plan.schema import TABLES
from fleetplan.plan.tables import extract
from fleetplan.planning import build_model
from fleetplan.solving.compile import compile_model
from fleetplan.solving.options import SolveOptions
from fleetplan.solving.recipe import solve

START = Quarter(2027, 1)
Tables = dict[str, pd.DataFrame]
Solved = tuple[Scenario, pd.DataFrame, Tables, float]


def base() -> Scenario:
    return load_scenario("small-2026")


def long_periods() -> Scenario:
    scenario = base()
    return scenario.model_copy(update={"horizon": Horizon(scenario.horizon.start, (1, 2, 3))})


def more_demand() -> Scenario:
    scenario = with_factor(base(), "demand[*,*].samples_per_s", 8.0)
    roles = [
        # One role ends within the horizon, the other begins with a quarter without work.
        ("inference", {"first": START, "last": START + 3, "value_musd_per_rack_quarter": 2.0}),
        ("research", {"value_musd_per_rack_quarter": 1.9, "down_quarters": 1, "max_racks": 40}),
    ]
    offers = tuple(scenario.roles[0].model_copy(update={"name": name, **rest}) for name, rest in roles)
    return scenario.model_copy(update={"roles": offers})


def all_rules() -> Scenario:
    scenario = more_demand()
    for rule in (
        "allow_moves",
        "price_carbon",
        "limit_carbon",
        "use_tax",
        "limit_vendor_share",
        "integer_retirements",
    ):
        scenario = with_value(scenario, f"rules.{rule}", True)
    scenario = with_factor(scenario, "supply[*,*].max_racks", 2.0)
    scenario = with_value(scenario, "supply[*,*].new_orders_can_arrive", True)
    scenario = with_value(scenario, "supply[*,*].lead_time_quarters", 0)
    return with_value(scenario, "lifecycle.minimum_age_quarters", 2)


def power_falls() -> Scenario:
    scenario = with_factor(base(), "power[*,2028Q1].facility_mw", 0.75)
    return with_value(scenario, "lifecycle.minimum_age_quarters", 2)


def dark() -> Scenario:
    return with_value(base(), "power[*,*].facility_mw", 0.0)


CASES: dict[str, Callable[[], Scenario]] = {
    "base": base,
    "long periods": long_periods,
    "eight times the demand": more_demand,
    "all rules": all_rules,
    "power falls": power_falls,
    "no power": dark,
}


@cache
def solved(case: str) -> Solved:
    scenario = CASES[case]()
    options = options_for(scenario)
    model = build_model(scenario, options)
    compiled = compile_model(model.pyomo)
    result = solve(compiled, SolveOptions(gap_rel=1e-3))
    assert result.x is not None
    assert result.objective is not None
    return scenario, options, extract(model, compiled, result.x), result.objective


def judged(case: str, **tables: pd.DataFrame) -> AuditReport:
    scenario, options, good, objective = solved(case)
    return audit({**good, **tables}, scenario, options, objective)


@pytest.mark.parametrize("case", CASES)
def test_every_plan_of_the_planner_passes(case: str) -> None:
    report = judged(case)
    assert report.lines() == [f"audit: {len(report.checks)} checks, {report.identities:,} identities hold"]


def test_the_cases_use_every_table_and_kind() -> None:
    kinds = {k for case in CASES for k in solved(case)[2]["orders"]["kind"]}
    exits = {k for case in CASES for k in solved(case)[2]["retirements"]["kind"]}
    assert {"committed", "option", "new", "rental", "upgrade"} <= kinds
    assert {"early", "attrition", "upgrade"} <= exits
    assert all(len(solved("eight times the demand")[2][spec.name]) for spec in TABLES)


NUMBERS = [(spec.name, c.name) for spec in TABLES for c in spec.columns if c.type in ("int", "float")]


@pytest.mark.parametrize(("table", "column"), NUMBERS)
@pytest.mark.parametrize(
    "how", ["a hundredth more", "a hundredth less", "negative", "not a number", "infinite"]
)
def test_every_changed_number_is_found(table: str, column: str, how: str) -> None:
    frame = solved("eight times the demand")[2][table].copy()
    position = int(frame[column].abs().to_numpy().argmax())
    value = float(frame[column].iloc[position])
    frame[column] = frame[column].astype(float)
    frame.iloc[position, frame.columns.get_loc(column)] = {
        "a hundredth more": value * 1.01 + 1e-3,
        "a hundredth less": value * 0.99 - 1e-3,
        "negative": -abs(value) - 1.0,
        "not a number": np.nan,
        "infinite": np.inf,
    }[how]
    report = judged("eight times the demand", **{table: frame})
    assert not report.passed
    with pytest.raises(AuditError, match="audit:"):
        require(report)


@pytest.mark.parametrize("table", [spec.name for spec in TABLES])
def test_every_lost_or_doubled_row_is_found(table: str) -> None:
    frame = solved("eight times the demand")[2][table]
    size = next(c for t, c in NUMBERS if t == table and c != "cap_w")
    largest = int(frame[size].abs().to_numpy().argmax())
    assert not judged("eight times the demand", **{table: frame.drop(index=largest)}).passed
    doubled = pd.concat([frame, frame.iloc[[largest]]], ignore_index=True)
    assert not judged("eight times the demand", **{table: doubled}).passed


TEXTS = [
    (spec.name, c.name)
    for spec in TABLES
    for c in spec.columns
    if c.type == "text" and (spec.name, c.name) != ("ledger", "detail")
]


@pytest.mark.parametrize(("table", "column"), TEXTS)
def test_every_unknown_name_is_found(table: str, column: str) -> None:
    frame = solved("eight times the demand")[2][table].copy()
    size = next(c for t, c in NUMBERS if t == table and c != "cap_w")
    largest = int(frame[size].abs().to_numpy().argmax())
    frame.loc[largest, column] = "nobody"
    assert not judged("eight times the demand", **{table: frame}).passed


@pytest.mark.parametrize("factor", [0.999, 1.001])
def test_another_objective_is_found(factor: float) -> None:
    scenario, options, good, objective = solved("base")
    assert not audit(good, scenario, options, objective * factor).passed


@pytest.mark.parametrize(
    ("path", "value", "check"),
    [
        ("lifecycle.attrition_per_year", 0.3, "attrition"),
        ("lifecycle.spare_share", 0.5, "capacity"),
        ("lifecycle.install_quarters", 3, "dates"),
        ("power[*,*].facility_mw", 1.0, "power"),
        ("supply[*,*].price_musd_per_rack", 9.0, "purchases"),
        ("finance.discount_rate", 0.2, "discounting"),
        ("finance.opex_musd_per_facility_mw_year", 9.0, "running costs"),
        ("demand[*,*].samples_per_s", 1.0, "demand"),
        ("carbon.intensity_g_per_kwh[*]", 9.0, "carbon"),
    ],
)
def test_a_plan_of_other_inputs_fails_in_the_right_place(path: str, value: float, check: str) -> None:
    scenario, options, good, objective = solved("eight times the demand")
    other = with_value(scenario, path, value)
    failed = {c.name for c in audit(good, other, options, objective).checks if not c.passed}
    assert check in failed


def test_idle_racks_at_a_cap_that_nobody_uses_are_found() -> None:
    _, options, good, _ = solved("base")
    modes, work = good["modes"].copy(), good["assignment"].merge(options[["option", "cap_w"]], on="option")
    on = ["site", "accelerator", "cap_w", "period"]
    busy = modes.merge(work[on].drop_duplicates(), on=on, how="left", indicator=True)["_merge"] == "both"
    caps = modes["accelerator"].map(
        options.groupby("accelerator")["cap_w"].agg(lambda each: sorted(set(each)))
    )
    idle = next(i for i in modes.index[~busy] if len(caps[i]) > 1 and modes.loc[i, "cap_w"] == caps[i][0])
    modes.loc[idle, "cap_w"] = caps[idle][1]
    failed = {check.name for check in judged("base", modes=modes).checks if not check.passed}
    assert "capacity" in failed


def test_more_racks_than_can_come_are_found() -> None:
    scenario, options, good, objective = solved("eight times the demand")
    none = tuple(row.model_copy(update={"max_racks": 0, "option_racks": 0}) for row in scenario.supply)
    other = scenario.model_copy(update={"supply": none})
    failed = {c.name for c in audit(good, other, options, objective).checks if not c.passed}
    assert "supply" in failed


def test_racks_that_left_too_young_are_found() -> None:
    scenario, options, good, objective = solved("power falls")
    other = with_value(scenario, "lifecycle.minimum_age_quarters", 40)
    failed = {c.name for c in audit(good, other, options, objective).checks if not c.passed}
    assert "ages" in failed


def test_slower_options_do_not_carry_the_same_work() -> None:
    scenario, options, good, objective = solved("base")
    slower = options.assign(net_samples_per_s_per_rack=options["net_samples_per_s_per_rack"] * 0.9)
    failed = {c.name for c in audit(good, scenario, slower, objective).checks if not c.passed}
    assert failed == {"rates"}


def test_an_audit_of_nothing_has_not_passed() -> None:
    assert not AuditReport(()).passed


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_a_number_that_is_none_never_holds(value: float) -> None:
    for check in ("equal", "at_most", "at_least"):
        checker = Checker("x", "x")
        getattr(checker, check)("here", value, 1.0)
        held = {("at_most", -np.inf), ("at_least", np.inf)}
        assert checker.result().passed is ((check, value) in held)


def test_worst_violation_is_a_multiple_of_the_tolerance() -> None:
    checker = Checker("x", "x", absolute=0.1, relative=0.0)
    checker.equal("here", 1.0, 1.05)
    assert checker.result().worst == pytest.approx(0.5)
    checker.equal("there", 1.0, 1.4)
    result = checker.result()
    assert result.worst == pytest.approx(4.0)
    assert result.first_failure == "there: 1 instead of 1.4"

"""Twenty scenarios that cannot be, one per kind of contradiction: named by kind, place and size, and mended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
import pytest
from rough_options import options_for

from fleetplan.errors import InfeasibleError
from fleetplan.explain.diagnosis import Diagnosis, diagnose
from fleetplan.explain.mends import apply
from fleetplan.explain.question import Question
from fleetplan.inputs.load import load_scenario
from fleetplan.inputs.scenario import Scenario
from fleetplan.inputs.values import with_value
from fleetplan.periods import Horizon
from fleetplan.plan.schema import ORDERS
from fleetplan.solving.options import SolveOptions

MTIA_400 = ("mtia-400", "2027Q1")
GB300 = ("gb300", "2027Q1")
MTIA_300 = ("mtia-300", "2027Q1")


def base(**committed: int) -> Scenario:
    """One workload, four quarters, no present fleet; only what is named is committed (``mtia-400_2027Q1``)."""
    scenario = load_scenario("small-2026")
    wanted = {tuple(name.replace("__", "-").rsplit("_", 1)): racks for name, racks in committed.items()}
    supply = [
        row.model_copy(
            update={
                "committed_racks": wanted.get((row.accelerator, str(row.delivery)), 0),
                "option_racks": 0,
                "max_racks": max(row.max_racks, wanted.get((row.accelerator, str(row.delivery)), 0)),
            }
        )
        for row in scenario.supply
    ]
    return scenario.model_copy(
        update={
            "horizon": Horizon.of_quarters(scenario.horizon.start, 4),
            "workloads": {"ads-dlrm-150b": scenario.workloads["ads-dlrm-150b"]},
            "demand": tuple(row for row in scenario.demand if row.workload == "ads-dlrm-150b"),
            "fleet": (),
            "rentals": (),
            "upgrades": (),
            "supply": tuple(supply),
        }
    )


def change(scenario: Scenario, values: Mapping[str, Any]) -> Scenario:
    for path, value in values.items():
        scenario = with_value(scenario, path, value)
    return scenario


def options() -> pd.DataFrame:
    table = options_for(load_scenario("small-2026"))
    return table[table["workload"] == "ads-dlrm-150b"].reset_index(drop=True)


def offered(scenario: Scenario) -> Scenario:
    """All that can come may be taken as an option."""
    rows = tuple(row.model_copy(update={"option_racks": row.max_racks}) for row in scenario.supply)
    return scenario.model_copy(update={"supply": rows})


def frozen_orders(racks: float, hall: str = "new-albany-oh-liquid") -> pd.DataFrame:
    site = "new-albany-oh" if hall.startswith("new") else "altoona-ia"
    row = (
        "gb300",
        site,
        hall,
        "2027Q2",
        "new",
        "2026Q2",
        "2027Q1",
        "2026-06-30",
        racks / 4,
        racks,
        3.949,
        1.0,
    )
    return ORDERS.frame([row])


@dataclass(frozen=True)
class Impossible:
    scenario: Callable[[], Scenario]
    kind: str
    place: tuple[str, ...]
    amount: float | None
    """Size of the finding; ``None`` where only its sign is plain."""
    mend: str
    unit: str
    previous: Callable[[], pd.DataFrame] | None = None


def with_present(scenario: Scenario, racks: int) -> Scenario:
    """Present MTIA 300 in New Albany, three quarters old, in whole racks."""
    cohort = next(row for row in load_scenario("small-2026").fleet if row.accelerator == "mtia-300")
    return scenario.model_copy(update={"fleet": (cohort.model_copy(update={"racks": racks}),)})


POWER = "power[*,*].facility_mw"
# MTIA 400 and GB300 are racks of 4; a rack of either takes 130 to 175 kW of facility power.
CASES: dict[str, Impossible] = {
    "halls too small": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {POWER: 0.5}), "commitment", MTIA_400, 24, "power", "MW"
    ),
    "power falls before the minimum age": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {"power[*,2027Q3].facility_mw": 1.0}),
        "commitment", MTIA_400, None, "minimum age", "quarters",
    ),
    "no power when it comes": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {"power[*,2027Q2].facility_mw": 0.0}),
        "no power when it comes", MTIA_400, 24, "power", "MW",
    ),
    "no hall of its cooling": Impossible(
        lambda: with_cooling(base(mtia__300_2027Q1=32), "air"),
        "no hall cools it", MTIA_300, 32, "commitments", "racks",
    ),
    "rack above the hall's limit": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {"halls[*].max_rack_it_kw": 100.0}),
        "rack too large", MTIA_400, 24, "rack limit", "kW",
    ),
    "two commitments for one hall": Impossible(
        lambda: change(base(mtia__400_2027Q1=24, gb300_2027Q1=24), {POWER: 2.2}),
        "commitment", (), None, "commitments", "racks",
    ),
    "reserve for a lost feed": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {POWER: 10.0, "halls[*].reserve_share": 0.9}),
        "commitment", MTIA_400, None, "power", "MW",
    ),
    "stranded power": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {POWER: 10.0, "sites[*].stranded_share": 0.9}),
        "commitment", MTIA_400, None, "commitments", "racks",
    ),
    "site dates slip": Impossible(
        lambda: change(
            base(mtia__400_2027Q1=24),
            {"power[*,*].facility_mw_if_dates_slip": 1.0, "rules.site_dates": "slip"},
        ),
        "commitment", MTIA_400, None, "power", "MW",
    ),
    "budget of a year": Impossible(
        lambda: with_limit(
            change(base(mtia__400_2027Q1=24), {"rules.limit_capex": True}),
            "capex_budget_musd", "2027", 20.0,
        ),
        "budget", ("2027",), 24 * 1.9141 - 20.0, "budgets", "M USD",
    ),
    "boards that a rack does not fill": Impossible(
        lambda: change(base(mtia__400_2027Q1=24), {POWER: 1.75, "halls[*].lot_kw": 240.0}),
        "commitment", MTIA_400, None, "commitments", "racks",
    ),
    "a lot is more than a hall holds": Impossible(
        lambda: change(base(mtia__300_2027Q1=64), {POWER: 0.3}), "commitment", MTIA_300, None, "power", "MW"
    ),
    "budget of a quarter": Impossible(
        lambda: change(
            base(mtia__400_2027Q1=24),
            {"rules.limit_capex": True, "finance.capex_budget_musd[2027Q1]": 20.0},
        ),
        "budget", ("2027Q1",), 24 * 1.9141 - 20.0, "budgets", "M USD",
    ),
    "depreciation limit": Impossible(
        lambda: with_limit(base(mtia__400_2027Q1=24), "depreciation_limit_musd", "2027", 1.0),
        "depreciation", ("2027",), None, "depreciation", "M USD",
    ),
    "write-off limit with racks that cannot stay": Impossible(
        lambda: with_limit(
            change(with_present(base(), 288), {"power[*,2027Q2].facility_mw": 0.0}),
            "write_off_limit_musd", "2027", 1.0,
        ),
        "write-off", ("2027",), None, "write-offs", "M USD",
    ),
    "carbon cap below idle racks": Impossible(
        lambda: change(
            with_present(base(), 288),
            {"rules.limit_carbon": True, "carbon.cap_mt_per_year[2027]": 0.001},
        ),
        "carbon", ("2027",), None, "carbon", "Mt CO2e",
    ),
    "early retirement forbidden": Impossible(
        lambda: change(
            base(mtia__400_2026Q4=0, gb300_2026Q4=24),
            {
                "lifecycle.minimum_age_quarters": 1,
                "rules.allow_early_retirement": False,
                "power[*,2027Q3].facility_mw": 0.5,
            },
        ),
        "commitment", ("gb300", "2026Q4"), None, "early retirement", "rule",
    ),
    "frozen orders above the hall's power": Impossible(
        lambda: change(offered(base()), {POWER: 1.0, "rules.frozen_quarters": 2}),
        "frozen orders", GB300, None, "frozen quarters", "quarters", lambda: frozen_orders(24),
    ),
    "frozen orders above the supply": Impossible(
        lambda: change(base(), {"rules.frozen_quarters": 2}),
        "frozen orders", GB300, None, "frozen quarters", "quarters", lambda: frozen_orders(96),
    ),
    "frozen orders above the budget": Impossible(
        lambda: change(
            offered(base()),
            {
                "rules.limit_capex": True,
                "finance.capex_budget_musd[2027Q1]": 50.0,
                "rules.frozen_quarters": 2,
            },
        ),
        "frozen orders", GB300, None, "budgets", "M USD", lambda: frozen_orders(24),
    ),
}  # fmt: skip


def with_cooling(scenario: Scenario, cooling: str) -> Scenario:
    halls = {n: h.model_copy(update={"cooling_class": cooling}) for n, h in scenario.halls.items()}
    return scenario.model_copy(update={"halls": halls})


def with_limit(scenario: Scenario, field: str, year: str, limit: float) -> Scenario:
    finance = scenario.finance.model_copy(update={field: {year: limit}})
    return scenario.model_copy(update={"finance": finance})


def ask(case: Impossible) -> tuple[Question, Diagnosis]:
    previous = None if case.previous is None else case.previous()
    scenario = case.scenario()
    settings = SolveOptions()
    found = diagnose(scenario, options(), settings, previous, conflict_time_s=0.0)
    return Question(scenario, options(), settings, previous), found


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.long] if i % 2 else []) for i, name in enumerate(CASES)]
)
def test_what_cannot_be_is_named_and_mended(name: str) -> None:
    case = CASES[name]
    question, found = ask(case)
    assert not found.feasible
    finding = next((f for f in found.findings if f.kind == case.kind), None)
    assert finding is not None, found.lines()
    assert case.place in ((), finding.place)
    assert finding.amount == pytest.approx(case.amount) if case.amount is not None else finding.amount > 0
    assert all(source.line > 0 for source in finding.sources if source.file.endswith(".csv"))
    mend = next((m for m in found.mends if m.kind == case.mend), None)
    assert mend is not None, [(m.kind, m.text) for m in found.mends]
    assert (mend.unit, mend.confirmed, mend.smallest) == (case.unit, True, True)
    # once more here: with the change a plan exists, with a hundredth less (or one step less) none does
    assert question.possible(apply(question.scenario, mend.changes))
    if mend.unit in ("MW", "M USD", "Mt CO2e", "kW"):
        assert not question.possible(apply(question.scenario, mend.changes, 0.99))
    text = "\n".join(found.lines())
    assert text.startswith("No plan is possible: ")
    assert mend.text in text


def test_there_are_twenty() -> None:
    assert len(CASES) == 20


def test_a_possible_scenario_is_said_to_be_possible() -> None:
    found = diagnose(base(mtia__400_2027Q1=24), options())
    assert found.feasible
    assert found.lines() == ["A plan is possible."]


def test_demand_that_nobody_can_serve_is_noted_and_is_no_contradiction() -> None:
    table = options()
    table["meets_deadline"] = False
    found = diagnose(base(), table)
    assert found.feasible
    (finding,) = found.findings
    assert (finding.kind, finding.place) == ("nobody can serve it", ("ads-dlrm-150b",))
    assert "meets its deadline" in finding.text


def test_demand_bound_to_a_site_without_a_hall_for_it_is_noted() -> None:
    scenario = with_cooling(base(), "liquid")
    own = scenario.workloads["ads-dlrm-150b"].model_copy(update={"allowed_sites": ("altoona-ia",)})
    halls = {n: h for n, h in scenario.halls.items() if h.site != "altoona-ia"}
    power = tuple(row for row in scenario.power if row.hall in halls)
    changed = scenario.model_copy(
        update={"workloads": {"ads-dlrm-150b": own}, "halls": halls, "power": power}
    )
    assert any("no hall of altoona-ia accepts them" in f.text for f in diagnose(changed, options()).findings)


def test_a_commitment_that_comes_after_the_horizon_is_noted() -> None:
    found = diagnose(base(mtia__400_2027Q3=48), options())
    assert found.feasible
    assert [(f.kind, f.place) for f in found.findings] == [("comes too late", ("mtia-400", "2027Q3"))]


def test_rows_that_clash_lead_to_lines_of_the_input() -> None:
    scenario = change(base(mtia__400_2027Q1=24), {POWER: 0.5})
    found = diagnose(scenario, options(), conflict_time_s=20.0)
    assert "committed[mtia-400, 2027Q1]" in found.conflict
    assert any("power_by_quarter.csv" in source.file and source.line for source in found.clashing)


def test_a_model_that_cannot_even_be_built_is_diagnosed() -> None:
    scenario = change(base(mtia__400_2027Q1=24), {"halls[*].max_rack_it_kw": 100.0})
    with pytest.raises(InfeasibleError):
        Question(scenario, options(), SolveOptions(), None).case(scenario)
    assert diagnose(scenario, options(), conflict_time_s=0.0).findings[0].kind == "rack too large"


def test_each_line_is_heard_as_it_is_found_and_in_the_order_of_the_answer() -> None:
    for name in ("halls too small", "budget of a quarter", "no hall of its cooling"):
        case, heard = CASES[name], []
        scenario = case.scenario()
        found = diagnose(scenario, options(), conflict_time_s=0.0, heard=heard.append)
        assert heard == found.lines()
        assert found.unanswered == ()


def test_what_the_clock_left_open_is_said_and_nothing_is_claimed() -> None:
    on_sight = diagnose(CASES["budget of a quarter"].scenario(), options(), time_s=0.0)
    assert on_sight.feasible is False
    assert on_sight.findings[0].kind == "budget"
    assert not on_sight.mends
    assert {"causes", "power", "budgets"} <= set(on_sight.unanswered)
    assert any("Not finished in the time given: causes" in line for line in on_sight.lines())
    assert not any("No change of one kind" in line for line in on_sight.lines())
    unknown = diagnose(CASES["halls too small"].scenario(), options(), time_s=0.0)
    assert unknown.feasible is None
    assert unknown.lines() == ["Whether a plan is possible was not found out in the time given."]


def test_the_rows_of_a_proof_clash_and_a_least_relief_is_proven() -> None:
    """What large models use: here on a small one, whose answer is known by hand."""
    from fleetplan.explain.soften import proof, rows_of

    scenario = change(base(mtia__400_2027Q1=24), {POWER: 0.5})
    question = Question(scenario, options(), SolveOptions(), None)
    rows = proof(question.base, rows_of(question.base, "committed"), SolveOptions())
    assert ("committed", ("mtia-400", "2027Q1")) in rows
    relieved = question.relief(question.base, rows_of(question.base, "committed"))
    assert relieved is not None
    assert relieved.needs_more_than(0.99 * relieved.total)
    assert not relieved.needs_more_than(relieved.total)
    assert question.has_plan(question.base, relieved.whole) is False

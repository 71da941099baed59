"""Golden rows: one row of each constraint family with its names, coefficients and sides, by hand.

The register at the end fails when the source has a family without a golden row here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from pyomo.repn import generate_standard_repn

import fleetplan.planning
from fleetplan.inputs.scenario import Rental, Role, Upgrade
from fleetplan.planning import build_model
from fleetplan.planning.earlier import Earlier
from tests.planning.worlds import (
    HERE,
    START,
    accelerator,
    cohort,
    demand,
    hall,
    option,
    options,
    power,
    scenario,
    site,
    supply,
    workload,
)

INF = float("inf")
HALL = "h"
Q1, Q2, Q3 = "2027Q1", "2027Q2", "2027Q3"
A, B = "alpha", "beta"
RUN_A, RUN_B = f"w/{A}/1/1/1000", f"w/{B}/1/1/1000"
RUN_B_LOW = f"w/{B}/1/1/600"
UPTIME = 0.97 * 0.96
OLD = (HALL, A, "2026Q1", 0)
"""The present cohort: 4 racks of 1 M USD, 4 quarters old, 10 % attrition a year."""
KEPT = 0.9**0.25


def model(**changes):
    """Three quarters; alpha stands there and has another role to go to; beta comes in lots of 2, runs at
    two caps; alpha can be rented."""
    rules = {
        "minimum_cluster": True,
        "limit_vendor_share": True,
        "limit_capex": True,
        "limit_carbon": True,
        "limit_work_moves": True,
        "frozen_quarters": 2,
        "change_price_musd_per_rack": 0.1,
    }
    fields = {
        "lengths": (1, 1, 1),
        "accelerators": [
            accelerator(A, vendor="One", book_life_years=5.0),
            accelerator(B, vendor="Two", facility_fixed_w_per_device=100e3, facility_slope_w_per_cap_w=100.0),
        ],
        "workloads": [workload("w", deferrable_share=0.25, training_samples_per_run=3 * 864e3)],
        "sites": [site("s", tariff_minimum_take_share=0.85)],
        "halls": [hall(HALL, "s", reserve_share=0.1)],
        "power": power(HALL, [1.0, 2.0, 2.0]),
        "fleet": [cohort(HALL, "s", A, 4)],
        "supply": [supply(B, 0, 8, 2.0, committed_racks=3), supply(B, 1, 8, 2.0)],
        "demand": demand("w", [8.0, 6.0, 6.0]),
        "rentals": [
            Rental(
                origin=HERE,
                name="r",
                accelerator=A,
                first=START,
                last=START + 2,
                max_racks=5,
                price_musd_per_rack_quarter=1.0,
            )
        ],
        "roles": [
            Role(
                origin=HERE,
                name="infer",
                accelerator=A,
                first=START,
                last=START + 1,
                max_racks=3,
                value_musd_per_rack_quarter=0.2,
                cost_share_of_price=0.05,
            )
        ],
        "upgrades": [Upgrade(origin=HERE, from_accelerator=A, to_accelerator=B, price_share_of_new_rack=0.5)],
        "finance": {
            "capex_budget_musd": {Q2: 30.0},
            "write_off_limit_musd": {"2027": 3.0},
            "depreciation_limit_musd": {"2027": 7.0},
            "vendor_share_max": 0.6,
        },
        "lifecycle": {
            "attrition_per_year": 0.1,
            "spare_share": 0.03,
            "maintenance_share": 0.04,
            "burn_in_loss_share": 0.2,
            "lot_racks": {B: 2},
            "movable_work_share": 0.15,
            "minimum_age_quarters": 5,
        },
        "carbon": {"intensity_g_per_kwh": {"s": 400.0}, "cap_mt_per_year": {"2027": 0.01}},
        "rules": rules,
    }
    world = scenario(**{**fields, **changes})
    table = options(
        option("w", A, 1.0, average_facility_kw_per_rack=80.0),
        option("w", B, 2.0, average_facility_kw_per_rack=150.0),
        option("w", B, 1.5, cap_w=600.0, average_facility_kw_per_rack=120.0),
    )
    orders = pd.DataFrame(
        {
            "hall": HALL,
            "accelerator": B,
            "delivery_quarter": Q1,
            "kind": ["new", "upgrade"],
            "racks": [4.0, 1.5],
        }
    )
    exits = pd.DataFrame(
        {
            "hall": HALL,
            "accelerator": A,
            "vintage": "2026Q1",
            "quarter": Q2,
            "kind": ["early", "role"],
            "racks": [2.0, 9.0],
        }
    )
    return build_model(world, table, Earlier(orders, exits))


@pytest.fixture(scope="module")
def built():
    return model()


def row(built, family, *key):
    """Coefficients by (family, *index), lower and upper side."""
    one = getattr(built.pyomo, family)[key if len(key) > 1 else key[0]]
    linear = generate_standard_repn(one.body)
    names = {}
    for variable, value in zip(linear.linear_vars, linear.linear_coefs, strict=True):
        index = variable.index() if isinstance(variable.index(), tuple) else (variable.index(),)
        names[variable.parent_component().name, *index] = value
    low = -INF if one.lower is None else float(one.lower)
    high = INF if one.upper is None else float(one.upper)
    return names, low, high


def lots(quarter):
    return ("lots", HALL, B, quarter)


def old(leaves, kind="early", to=-1):
    return ("leave", *OLD, leaves, kind, to)


HAND = ("leave", HALL, A, "2026Q1", 0, Q2, "role", 5)
"""The hand-over in the second quarter: the role takes nobody in the third."""
SWAP_2 = ("leave", HALL, A, "2026Q1", 0, Q2, "upgrade", 3)
SWAP_3 = ("leave", HALL, A, "2026Q1", 0, Q3, "upgrade", 4)


def expected() -> dict[str, tuple[tuple, dict, float, float]]:
    """Family -> key, coefficients, sides."""
    racks, low_cap = ("racks", HALL, B, Q2), ("capped", HALL, B, 600.0, Q2)
    full_cap = ("capped", HALL, B, 1000.0, Q2)
    stand = {("racks", HALL, A, Q2): 0.1, ("in_role", HALL, A, "infer", Q2): 0.1}
    use = lambda run, t: ("use", "s", A if run == RUN_A else B, run, t)  # noqa: E731
    rented = lambda start, stop: ("rented", "r", start, stop)  # noqa: E731
    # Facility kW of beta: 100 + 100 x cap: 200 at 1000 W, 160 at 600 W.
    return {
        "committed": ((B, Q1), {lots(Q1): 1.0}, 1.0, INF),
        "odd_racks": ((B, Q1), {("odd", HALL, B, Q1): 1.0}, 1.0, 1.0),
        # 8 less 3 committed leaves 2 whole lots on top of the committed one; swaps count in lots.
        "supply": ((B, Q1), {lots(Q1): 1.0, SWAP_2: KEPT / 2}, -INF, 3.0),
        # All new power is vendor Two's: (1 - 0.6) x 0.2 MW a rack; 3 committed racks exceed by 0.24.
        "vendor": (
            ("Two", "2027"),
            {lots(Q1): 0.16, ("odd", HALL, B, Q1): 0.08, lots(Q2): 0.16},
            -INF,
            0.24,
        ),
        "cohort": (
            OLD,
            {old(Q2): 1.0, old(Q3): 1.0, SWAP_2: 1.0, SWAP_3: 1.0, HAND: 1.0, old("end", "horizon"): 1.0},
            4.0,
            4.0,
        ),
        # Alive in Q2: what survives of Q1 less what leaves at the start of Q2.
        "fleet": (
            (HALL, A, Q2),
            {
                ("racks", HALL, A, Q2): 1.0,
                ("racks", HALL, A, Q1): -KEPT,
                old(Q2): KEPT,
                SWAP_2: KEPT,
                HAND: KEPT,
            },
            0.0,
            0.0,
        ),
        # What was handed on stays, less attrition and those that retire from the role.
        "roles": (
            (HALL, A, "infer", Q3),
            {
                ("in_role", HALL, A, "infer", Q3): 1.0,
                ("in_role", HALL, A, "infer", Q2): -KEPT,
                ("leave", HALL, A, "2026Q1", 5, Q3, "early", -1): KEPT,
            },
            0.0,
            0.0,
        ),
        "role_limit": (("infer", Q2), {("in_role", HALL, A, "infer", Q2): 1.0}, -INF, 3.0),
        "caps": ((HALL, B, Q2), {low_cap: 1.0, full_cap: 1.0, racks: -1.0}, 0.0, 0.0),
        # 2 MW less 10 % reserve.
        "power": ((HALL, Q2), {**stand, low_cap: 0.16, full_cap: 0.2}, -INF, 1.8),
        "take": (
            ("s", Q2),
            {("unused_take", "s", Q2): 1.0, **stand, low_cap: 0.16, full_cap: 0.2},
            1.7,
            INF,
        ),
        "rental_limit": (
            ("r", Q2),
            {rented(Q1, Q3): 1.0, rented(Q1, "end"): 1.0, rented(Q2, Q3): 1.0, rented(Q2, "end"): 1.0},
            -INF,
            5.0,
        ),
        "rental_capacity": (
            ("r", Q1),
            {("rented_use", "r", RUN_A, Q1): 1.0, **{rented(Q1, e): -1.0 for e in (Q2, Q3, "end")}},
            -INF,
            0.0,
        ),
        "capacity": (("s", B, 600.0, Q2), {use(RUN_B_LOW, Q2): 1.0, low_cap: -UPTIME}, -INF, 0.0),
        # A fifth of the racks that enter are missing, spares and maintenance apart.
        "burn_in": (
            ("s", B, Q2),
            {
                use(RUN_B, Q2): 1.0,
                use(RUN_B_LOW, Q2): 1.0,
                low_cap: -UPTIME,
                full_cap: -UPTIME,
                lots(Q1): 2 * 0.2 * UPTIME,
                ("odd", HALL, B, Q1): 0.2 * UPTIME,
            },
            -INF,
            0.0,
        ),
        "demand": (
            ("w", Q2),
            {
                use(RUN_A, Q2): 1.0,
                use(RUN_B, Q2): 2.0,
                use(RUN_B_LOW, Q2): 1.5,
                ("rented_use", "r", RUN_A, Q2): 1.0,
                ("short", "w", Q2): 1.0,
                ("backlog", "w", Q2): 1.0,
                ("backlog", "w", Q1): -1.0,
            },
            6.0,
            6.0,
        ),
        "gravity": (
            ("s", "w", Q2),
            {
                use(RUN_A, Q2): 1.0,
                use(RUN_B, Q2): 2.0,
                use(RUN_B_LOW, Q2): 1.5,
                use(RUN_A, Q1): -0.85,
                ("excused", "s", "w", Q2): 1.0,
            },
            0.0,
            INF,
        ),
        # Demand falls by 2 from the first to the second quarter.
        "excuse": (
            ("w", Q2),
            {("excused", "s", "w", Q2): 1.0, ("short", "w", Q2): -1.0, ("backlog", "w", Q2): -1.0},
            -INF,
            2.0,
        ),
        # A run of 3 x 864,000 samples in ten days is 3 samples/s.
        "least": (
            ("s", "w", Q2),
            {use(RUN_A, Q2): 1.0, use(RUN_B, Q2): 2.0, use(RUN_B_LOW, Q2): 1.5, ("open", "s", "w", Q2): -3.0},
            0.0,
            INF,
        ),
        # Demand of 6 and what may wait from the quarter before, a quarter of 8.
        "most": (
            ("s", "w", Q2),
            {use(RUN_A, Q2): 1.0, use(RUN_B, Q2): 2.0, use(RUN_B_LOW, Q2): 1.5, ("open", "s", "w", Q2): -8.0},
            -INF,
            0.0,
        ),
        # Two racks of 2 M USD a lot; swapped modules at half of that for each rack that is left.
        "budget": ((Q2,), {lots(Q2): 4.0, SWAP_3: 1.0 * KEPT**2}, -INF, 30.0),
        # Aged 5 and 6 quarters of 20: 0.75 and 0.70 of 1 M USD.
        "write_off": (
            ("2027",),
            {
                old(Q2): 0.75 * KEPT,
                SWAP_2: 0.75 * KEPT,
                old(Q3): 0.70 * KEPT**2,
                SWAP_3: 0.70 * KEPT**2,
                ("leave", HALL, A, "2026Q1", 5, Q3, "early", -1): 0.70 * KEPT,
            },
            -INF,
            3.0,
        ),
        # 0.05 of the price a quarter: old racks of 1 M USD, new ones of 2, swapped ones of 1.
        "depreciation": (
            ("2027",),
            {
                old(Q2): 0.05,
                SWAP_2: 0.05,
                old(Q3): 0.05 * (1 + KEPT),
                SWAP_3: 0.05 * (1 + KEPT),
                HAND: 0.05,
                old("end", "horizon"): 0.05 * (1 + KEPT + KEPT**2),
                ("leave", HALL, A, "2026Q1", 5, Q3, "early", -1): 0.05,
                ("leave", HALL, A, "2026Q1", 5, "end", "horizon", -1): 0.05 * (1 + KEPT),
                ("leave", HALL, B, Q2, 1, "end", "horizon", -1): 0.1 * (1 + KEPT),
                ("leave", HALL, B, Q3, 2, "end", "horizon", -1): 0.1,
                ("leave", HALL, B, Q2, 3, "end", "horizon", -1): 0.05 * (1 + KEPT),
                ("leave", HALL, B, Q3, 4, "end", "horizon", -1): 0.05,
            },
            -INF,
            7.0,
        ),
        "change": (
            (HALL, B, Q2),
            {lots(Q2): 2.0, ("more", HALL, B, Q2): -1.0, ("fewer", HALL, B, Q2): 1.0},
            0.0,
            0.0,
        ),
        # Modules of the first delivery are put in at the start of the second quarter.
        "change_swaps": (
            (HALL, B, Q1),
            {SWAP_2: KEPT, ("more_swaps", HALL, B, Q1): -1.0, ("fewer_swaps", HALL, B, Q1): 1.0},
            1.5,
            1.5,
        ),
        "change_exits": (
            (HALL, A, "2026Q1", "early", Q2),
            {
                old(Q2): KEPT,
                ("more_exits", HALL, A, "2026Q1", "early", Q2): -1.0,
                ("fewer_exits", HALL, A, "2026Q1", "early", Q2): 1.0,
            },
            2.0,
            2.0,
        ),
        "frozen_swaps": ((HALL, B, Q1), {SWAP_2: KEPT}, 1.5, 1.5),
        # Nine were to be handed on; what is left of four, less the two that retire, is all there is.
        "frozen_exits": (
            (HALL, A, "2026Q1", "role", Q2),
            {HAND: KEPT},
            4 * KEPT - 2,
            4 * KEPT - 2,
        ),
        "frozen": ((HALL, B, Q1), {lots(Q1): 2.0, ("odd", HALL, B, Q1): 1.0}, 4.0, 4.0),
    }


@pytest.mark.parametrize("family", [*expected()])
def test_a_row_of_each_family_is_as_the_maths_say(built, family):
    key, coefficients, low, high = expected()[family]
    found, found_low, found_high = row(built, family, *key)
    assert found == pytest.approx(coefficients)
    assert (found_low, found_high) == pytest.approx((low, high))


def test_carbon_counts_idle_power_of_every_rack_and_what_use_adds(built):
    found, _, high = row(built, "carbon", "2027")
    hours = 8766 / 4
    # Idle watts are not known, so an idle rack draws what its least hungry option does.
    assert found["racks", HALL, A, Q2] == pytest.approx(80 * hours / 1000 * 400 / 1000 / 1000)
    assert found["use", "s", B, RUN_B, Q2] == pytest.approx(30 * hours / 1000 * 400 / 1000 / 1000)
    assert ("use", "s", A, RUN_A, Q2) not in found
    assert high == pytest.approx(10.0)


def test_every_family_of_rows_in_the_source_has_a_golden_row():
    folder = Path(fleetplan.planning.__file__).parent
    source = "".join(path.read_text() for path in sorted(folder.glob("*.py")))
    families = set(re.findall(r'form\.rows\(\s*"(\w+)"', source))
    assert len(families) > 20
    assert families == {*expected(), "carbon"}


def test_only_orders_and_open_clusters_are_whole_numbers(built):
    assert built.form.whole == {"lots", "odd", "open"}
    assert model(rules={"integer_retirements": True}).form.whole == {"lots", "odd", "leave"}

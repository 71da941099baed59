"""Rules of age and power at their limits."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan import lifecycle
from fleetplan.periods import Horizon, Quarter

START = Quarter(2026, 4)


def test_a_year_of_attrition_takes_its_share():
    alive = lifecycle.survival_by_age(24, 0.02, 1.5, 5.0)
    assert alive[4] == pytest.approx(0.98)
    assert alive[24] / alive[20] == pytest.approx(0.97)


@given(st.floats(0, 1), st.floats(0, 4), st.integers(0, 40))
def test_racks_never_come_back(rate, multiplier, quarters):
    alive = lifecycle.survival_by_age(quarters, rate, multiplier, 3.0)
    assert len(alive) == quarters + 1
    assert all(0 <= late <= early for early, late in pairwise(alive))


def test_survival_between_two_ages():
    alive = lifecycle.survival_by_age(8, 0.1, 1.0, 5.0)
    assert lifecycle.survival(alive, 4, 8) == pytest.approx(0.9)
    assert lifecycle.survival([1.0, 0.0], 1, 1) == 0.0


def test_life_stage_counts_from_mass_production():
    begin = Quarter(2027, 1)
    stages = [lifecycle.life_stage(begin + offset, begin) for offset in (-1, 0, 3, 4)]
    assert stages == ["forecast", "initial", "initial", "refined"]
    assert lifecycle.life_stage(begin, None) == "refined"


def test_diversity_is_not_multiplied_with_a_factor_that_may_hold_it():
    stages = {"forecast": 1.0, "refined": 0.95}
    assert lifecycle.power_factor("forecast", stages, 0.97) == 0.97
    assert lifecycle.power_factor("refined", stages, 0.97) == 0.95


def test_reserve_and_stranding_leave_usable_power():
    assert lifecycle.usable_mw(100.0, 0.1, 0.05) == pytest.approx(85.5)


def test_boards_are_filled_with_whole_racks():
    assert lifecycle.filled_kw(130.0, 500.0) == pytest.approx(500 / 3)
    assert lifecycle.filled_kw(130.0, None) == 130.0
    assert lifecycle.filled_kw(600.0, 500.0) == 600.0


def test_minimum_take_grows_over_the_ramp_and_ends_with_the_term():
    share = [lifecycle.minimum_take_share(y, 0.85, 4, 12) for y in (0, 1, 3, 11.75, 12)]
    assert share == pytest.approx([0.2125, 0.425, 0.85, 0.85, 0.0])
    assert lifecycle.minimum_take_share(0, 0.85, 0, 0) == 0.85


def test_periods_that_hold_a_service_date():
    horizon = Horizon(START, (1, 4, 2))
    assert lifecycle.first_period_from(horizon, START) == 0
    assert lifecycle.first_period_from(horizon, START + 2) == 2
    assert lifecycle.first_period_from(horizon, START + 6) == 3
    assert lifecycle.last_boundary_until(horizon, START + 4) == 1
    assert lifecycle.last_boundary_until(horizon, START + 7) == 3
    assert lifecycle.last_boundary_until(horizon, START + -1) == -1

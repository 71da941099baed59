"""Time is counted in one place; these are its identities."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.periods import Horizon, Quarter

quarters = st.builds(Quarter, st.integers(1990, 2090), st.integers(1, 4))


@given(quarters, st.integers(-200, 200))
def test_adding_and_subtracting_quarters_are_inverse(quarter: Quarter, steps: int) -> None:
    assert (quarter + steps) - quarter == steps


@given(quarters)
def test_a_quarter_reads_back_from_its_name(quarter: Quarter) -> None:
    assert Quarter.parse(str(quarter)) == quarter


@pytest.mark.parametrize("text", ["2026", "2026Q5", "2026-Q4", "Q4 2026", "26Q4", "2026q4", ""])
def test_other_spellings_of_a_quarter_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 2026Q4"):
        Quarter.parse(text)


def test_the_year_turns_after_the_fourth_quarter() -> None:
    assert Quarter(2026, 4) + 1 == Quarter(2027, 1)


@given(quarters, st.lists(st.integers(1, 8), min_size=1, max_size=12))
def test_periods_tile_the_horizon_and_each_quarter_lies_in_exactly_one(
    start: Quarter, lengths: list[int]
) -> None:
    horizon = Horizon(start, tuple(lengths))
    assert horizon.end - start == sum(lengths)
    for offset in range(sum(lengths)):
        quarter = start + offset
        holders = [period.index for period in horizon if quarter in period]
        assert holders == [horizon.index_of(quarter)]
    assert horizon.index_of(start + -1) is None
    assert horizon.index_of(horizon.end) is None


def test_four_quarters_make_a_mean_year() -> None:
    year = Horizon(Quarter(2026, 4), (4,))[0]
    assert year.hours == 365.25 * 24
    assert year.seconds == 365.25 * 86400
    assert year.years == 1


@pytest.mark.parametrize("lengths", [(), (0,), (1, -1)])
def test_a_horizon_without_time_is_refused(lengths: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="at least one quarter"):
        Horizon(Quarter(2026, 4), lengths)

"""One error tree, one exit code each."""

from __future__ import annotations

import inspect

from fleetplan import errors
from fleetplan.errors import Fault, FleetplanError, InputError


def test_every_error_of_the_module_is_in_the_tree_and_in_its_picture() -> None:
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, Exception)]
    assert all(issubclass(c, FleetplanError) for c in classes)
    picture = errors.__doc__ or ""
    for c in classes:
        assert c.__name__ in picture


def test_exit_codes_are_those_of_the_manual() -> None:
    codes = {
        c.__name__: c.exit_code
        for c in (
            errors.UsageError,
            errors.InputError,
            errors.InfeasibleError,
            errors.UnboundedError,
            errors.LimitError,
            errors.SolverError,
            errors.Interrupted,
        )
    }
    assert codes == {
        "UsageError": 2,
        "InputError": 3,
        "InfeasibleError": 4,
        "UnboundedError": 5,
        "LimitError": 6,
        "SolverError": 8,
        "Interrupted": 130,
    }


def test_an_input_error_keeps_all_faults_in_reading_order() -> None:
    late = Fault("b.csv", 2, 1, "E001", "x", "blank")
    early = Fault("a.csv", 9, 3, "E003", "y", "no unit", "write 'W'")
    error = InputError([late, early])
    assert error.faults == [early, late]
    assert str(error).splitlines() == ["a.csv:9:3  y  E003 no unit  write 'W'", "b.csv:2:1  x  E001 blank"]


def test_warnings_are_told_from_errors_by_their_rule() -> None:
    assert Fault("a", 1, 1, "W101", "", "odd").severity == "warning"
    assert Fault("a", 1, 1, "E101", "", "wrong").severity == "error"

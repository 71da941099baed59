import pytest

from fleetplan.errors import InputError, UsageError
from fleetplan.inputs.catalog import accelerator_names, load_accelerator
from fleetplan.performance.constants import Constant, Constants, Context, context_of, load_constants
from fleetplan.performance.measurements import load_measurements

HERE = Context("b300-hgx", "NVIDIA", "compute-units")


def constants(*scopes):
    rows = [Constant("x", scope, i + 1.0, "", 0, 99, "assumed") for i, scope in enumerate(scopes)]
    return Constants(rows, {"b300": "b200", "b200": "h200", "h200": ""})


@pytest.mark.parametrize(
    ("scopes", "winner"),
    [
        (("all", "compute-units"), "compute-units"),
        (("compute-units", "NVIDIA"), "NVIDIA"),
        (("NVIDIA", "h200"), "h200"),
        (("h200", "b200"), "b200"),
        (("b200", "b300-hgx"), "b300-hgx"),
        (("all", "stack:tuned"), "stack:tuned"),
        (("compute-units+fabric:ethernet", "compute-units"), "compute-units"),
        (("AMD", "all"), "all"),
    ],
)
def test_nearest_scope_wins(scopes, winner):
    assert constants(*scopes).get("x", HERE).scope == winner


def test_no_fitting_scope_is_an_error_that_names_the_constant():
    with pytest.raises(UsageError, match="'x' has no value for b300-hgx"):
        constants("AMD").get("x", HERE)


def test_override_by_key_and_by_name_and_unknown_refused():
    base = constants("all", "NVIDIA")
    assert base.with_values({"x@NVIDIA": 7.0}).get("x", HERE).value == 7
    assert {row.value for row in base.with_values({"x": 5.0}).rows} == {5.0}
    with pytest.raises(UsageError, match="unknown constants"):
        base.with_values({"y": 1.0})


def test_every_accelerator_finds_every_constant_it_may_need():
    base = load_constants()
    general = {row.name for row in base.rows} - {"in_switch_gb_per_s"}
    for name in accelerator_names():
        device = load_accelerator(name)
        for stack in ("tuned", "production", "eager"):
            for constant in general:
                base.get(constant, context_of(device, stack=stack))
        if device.in_switch_reduction:
            base.get("in_switch_gb_per_s", context_of(device))


def test_shipped_constants_carry_range_evidence_and_at_most_eight_are_fitted():
    base = load_constants()
    assert len(base.fitted()) <= 8
    for row in base.rows:
        assert row.low <= row.value <= row.high
        assert row.source.startswith("https://") or row.status == "assumed"


def test_rows_that_fixed_a_constant_exist():
    import fnmatch

    known = [row.id for row in load_measurements()]
    words = {"dcnv2 fit set"}
    for row in load_constants().rows:
        for pattern in filter(None, (part.strip() for part in row.rows.split(";"))):
            assert pattern in words or fnmatch.filter(known, pattern), f"{row.key}: {pattern}"


def test_bad_file_reports_all_its_faults(tmp_path):
    file = tmp_path / "constants.csv"
    file.write_text(
        "constant,scope,value,unit,low,high,status,source,date,rows,note\n"
        "a,all,5,,1,2,assumed,,,,\nb,all,x,,1,2,assumed,,,,\nc,all,1,,1,2,guess,,,,\nc,all,1,,1,2,assumed,,,,\n"
    )
    with pytest.raises(InputError) as caught:
        load_constants(file)
    text = str(caught.value)
    assert all(part in text for part in ("line 2", "line 3", "line 4", "c is stated twice for all"))

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.inputs.catalog import load_accelerator
from fleetplan.performance import power
from fleetplan.performance.constants import context_of, load_constants
from fleetplan.performance.rates import Rates


def rates(name):
    device = load_accelerator(name)
    return Rates(device, load_constants(), context_of(device))


def test_gb200_caps_give_the_published_speed_and_facility_power():
    # arXiv:2605.24461: 1200, 1000 and 960 W
    device, caps = load_accelerator("gb200"), np.array([1200.0, 1000.0, 960.0])
    assert power.cap_speed(device, caps) == pytest.approx([1.0, 0.95, 0.945], abs=0.01)
    assert power.facility_watts(device, caps) / 1e3 == pytest.approx([2.14, 1.86, 1.81], rel=0.02)


@given(
    st.sampled_from(["h100", "gb200", "mtia-300", "mi355x", "tpu-v7"]), st.floats(100, 3000), st.floats(1, 2)
)
def test_speed_never_falls_with_the_cap_and_never_passes_one(name, cap, factor):
    device = load_accelerator(name)
    low, high = power.cap_speed(device, np.array([cap, cap * factor]))
    assert 0 < low <= high <= 1


# not GB200: its three published points themselves are not (0.95 at 1000 W, 0.945 at 960 W)
@pytest.mark.parametrize("name", ["h100", "gb300", "mtia-300", "mi300x", "b200"])
def test_cap_curve_is_concave(name):
    device = load_accelerator(name)
    caps = sorted(point.cap_w for point in device.power_caps)
    slopes = np.diff(power.cap_speed(device, np.array(caps))) / np.diff(caps)
    assert (np.diff(slopes) <= 1e-12).all()


def test_waiting_draws_between_idle_and_busy():
    device = rates("h100")
    idle, wait, busy = power.device_watts(device, 700, np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 0.0]))
    assert idle == 75
    assert idle < wait < busy <= 700


def test_idle_node_is_near_the_measured_one():
    # MLPerf v4.0 power log, Supermicro 8xH100, AC: 2,685 W
    assert float(power.node_watts(rates("h100"), 75.0, 0.0)) == pytest.approx(2685, rel=0.1)


def test_life_stage_scales_provisioned_power():
    device = load_accelerator("h100")
    full = float(power.facility_watts(device, 700))
    assert float(power.provisioned_watts(device, 700, {"refined": 0.9}, "refined")) == pytest.approx(
        0.9 * full
    )


def test_unknown_facility_law_is_not_a_number_rather_than_a_guess():
    assert np.isnan(power.facility_watts(load_accelerator("tpu-v7"), 500.0))

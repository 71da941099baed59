import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.evaluate import Settings, evaluate
from fleetplan.performance.overlap import overlapped
from fleetplan.performance.schedule import Item, beside

times = st.floats(1e-3, 1e3)
shares = st.floats(0.55, 1.0)


def item(seconds, kc, km):
    return Item("x", np.array([seconds]), kc, km)


@given(times, times, shares, shares)
def test_one_collective_follows_the_closed_form_of_two_pieces(a, m, kc, km):
    assert beside(np.array([a]), (item(m, kc, km),))[0] == pytest.approx(float(overlapped(a, m, kc, km)))


def test_collectives_of_one_stream_add_up_each_with_its_own_slowdown():
    # 100 of compute: 10 at (0.8, 0.5) stretch it by 4, and 10 at (0.9, 1.0) by 1
    made = beside(np.array([100.0]), (item(10.0, 0.8, 0.5), item(10.0, 0.9, 1.0)))
    assert made[0] == pytest.approx(100 + 0.2 / 0.5 * 10 + 0.1 / 1.0 * 10)


def test_backward_phase_hides_the_reduction_but_for_contention():
    model, device = load_model("dlrm-dcnv2"), load_accelerator("h100")
    made = evaluate(model, device, devices=8)
    alone = made.parts.allreduce[0]
    kc, km = made.rates["overlap_compute_allreduce"], made.rates["overlap_comm_allreduce"]
    assert made.schedule.exposed["allreduce"][0] == pytest.approx((1 - kc) / km * alone)


def test_step_is_critical_path_times_stragglers_plus_floor():
    made = evaluate(load_model("dlrm-dcnv2"), load_accelerator("h100"), devices=64, cap_w=600.0)
    again = (made.schedule.critical * made.straggler + made.rates["step_floor_ms"] * 1e-3) / 0.95
    assert made.step_seconds[0] == pytest.approx(float(again[0]))


def test_step_waits_for_the_slowest_of_device_feed_and_host():
    device = load_accelerator("h100")
    slow = load_model("dlrm-dcnv2").model_copy(update={"sample_bytes": 1e6})
    made = evaluate(slow, device, devices=8, settings=Settings(stack="tuned"))
    feed = 6912 * 1e6 / (made.rates["data_gb_per_s_per_device"] * 1e9)
    assert made.step_seconds[0] >= feed
    assert made.parts.loading[0] == pytest.approx(feed)


def test_messages_of_the_slowest_rank_set_the_exchange():
    model, device = load_model("mtia300-dlrm-150b"), load_accelerator("mtia-300")
    even = evaluate(model.model_copy(update={"skew": 1.0}), device, devices=40)
    skewed = evaluate(model.model_copy(update={"skew": 3.0}), device, devices=40)
    fixed = even.rates["alltoall_fixed_us"] * 1e-6
    ratio = skewed.parts.alltoall_forward[0] / even.parts.alltoall_forward[0]
    assert 1.5 < ratio < 3
    assert fixed > 0

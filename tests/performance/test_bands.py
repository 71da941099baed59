import numpy as np

from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.bands import MODEL_ERROR, band_factors, sensitivities
from fleetplan.performance.constants import Constants, load_constants
from fleetplan.performance.evaluate import Settings, evaluate
from fleetplan.performance.layout import Layout


def test_band_is_the_root_of_the_sum_of_squares():
    model, device = load_model("dlrm-dcnv2"), load_accelerator("mtia-400")
    moves = sensitivities(model, device, 16, 6912, Layout())
    low, high = band_factors(model, device, 16, 6912, Layout())
    falls = np.sqrt(sum(min(0, *ends) ** 2 for ends in moves.values()) + MODEL_ERROR**2)
    assert np.isclose(np.log(low), -falls)
    assert low < 1 < high


def test_one_constant_moved_alone_changes_the_rate_as_a_direct_change_does():

    model, device = load_model("dlrm-dcnv2"), load_accelerator("h100")
    base = load_constants()
    row = next(r for r in base.rows if r.key == "step_floor_ms@stack:tuned")
    moves = sensitivities(model, device, 8, 6912, Layout())
    slow = base.with_values({row.key: row.high})
    before, after = (
        evaluate(model, device, devices=8, settings=Settings(constants=c)).samples_per_s[0]
        for c in (base, slow)
    )
    assert np.isclose(moves["step_floor_ms"][1], np.log(after / before))


def test_certain_inputs_leave_only_the_model_error():
    from dataclasses import replace

    base = load_constants()
    sure = Constants([replace(r, low=r.value, high=r.value) for r in base.rows], base.analogues)
    device = load_accelerator("h100").model_copy(update={"figures": {}})
    low, high = band_factors(load_model("dlrm-dcnv2"), device, 8, 6912, Layout(), Settings(constants=sure))
    assert np.isclose(np.log(high), MODEL_ERROR)
    assert np.isclose(low * high, 1)


def test_unmeasured_generation_has_a_wider_band_than_a_measured_one():
    model = load_model("dlrm-dcnv2")
    widths = {}
    for name in ("h100", "mtia-500"):
        low, high = band_factors(model, load_accelerator(name), 16, 6912, Layout())
        widths[name] = high / low
    assert widths["mtia-500"] > widths["h100"]

"""Training options for the small scenario, without the step model: the tests of plan and explain use them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from fleetplan.performance.table import OPTIONS

if TYPE_CHECKING:
    from fleetplan.inputs.scenario import Scenario

RATES = {
    ("ads-dlrm-150b", "gb300"): 9.2e6,
    ("ads-dlrm-150b", "h100-500w"): 6.7e5,
    ("ads-dlrm-150b", "mtia-300"): 6.0e5,
    ("ads-dlrm-150b", "mtia-400"): 4.3e6,
    ("hstu-gr-1500b", "gb300"): 3.2e4,
    ("hstu-gr-1500b", "h100-500w"): 5.0e3,
    ("hstu-gr-1500b", "mtia-300"): 1.1e3,
    ("hstu-gr-1500b", "mtia-400"): 1.2e4,
}
"""Samples/s per rack of the size that the public scenario's rough rates have; only the size matters here."""


def options_for(scenario: Scenario) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for (workload, name), rate in RATES.items():
        part = scenario.accelerators[name]
        for cap in part.power_caps:
            kw = part.facility_kw_per_device(cap.cap_w) * (part.devices_per_rack or 1)
            rows.append(
                {
                    **dict.fromkeys(OPTIONS.names, 0.0),
                    "option": f"{workload}/{name}/{cap.cap_w:g}",
                    "workload": workload,
                    "accelerator": name,
                    "devices": scenario.workloads[workload].reference_devices,
                    "cap_w": cap.cap_w,
                    "layout": "row-wise",
                    "fits": True,
                    "meets_deadline": True,
                    "net_samples_per_s_per_rack": rate * cap.speed,
                    "low_factor": 0.65,
                    "high_factor": 1.4,
                    "provisioned_facility_kw_per_rack": kw,
                    "average_facility_kw_per_rack": 0.85 * kw,
                    "evidence": "modelled",
                }
            )
    return OPTIONS.frame(pd.DataFrame(rows))

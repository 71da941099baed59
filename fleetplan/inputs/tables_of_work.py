"""Tables of what is asked and how well accelerators serve it: workloads, demand, overrides, measurements."""

from __future__ import annotations

from fleetplan.inputs.fields import COOLING, EVIDENCE_FIELDS, Field, InputTable, Kind, name_field, share_field

WORKLOADS = InputTable(
    "workloads",
    "models with the work that is asked of them",
    (
        name_field("workload", "workload", "the workload's name", declares=True, attribute="name"),
        Field("name", "text", "title for people", attribute="title"),
        name_field("model", "model", "architecture, a file in models/"),
        Field("priority", "count", "1 gives way last", minimum=1.0, maximum=99.0),
        Field(
            "training_samples_per_run",
            "number",
            "samples of one training run",
            "sample/run",
            positive=True,
            minimum=0.0,
            usual=(1e6, 1e15),
        ),
        Field(
            "deadline_days_per_run",
            "number",
            "time in which a run must end",
            "day/run",
            positive=True,
            minimum=0.0,
            usual=(0.04, 365.0),
        ),
        share_field("deferrable_share", "share of a period's demand that may be served later"),
        Field(
            "goodput",
            "number",
            "useful share of running time",
            "fraction",
            blank="from the failure model",
            positive=True,
            minimum=0.0,
            maximum=1.0,
        ),
        Field(
            "shortfall_price_usd_per_billion_samples",
            "number",
            "price of work that is not done",
            "USD/billion_samples",
            minimum=0.0,
            usual=(0.001, 1e7),
        ),
        Field(
            "straggler_factor",
            "number",
            "step time over that of equal devices",
            blank="1: none",
            minimum=1.0,
            maximum=10.0,
        ),
        Field("reference_devices", "count", "devices of the reference job", "device", minimum=1.0),
        Field("local_batch", "count", "samples per device and step", "sample", minimum=1.0),
        Field(
            "peak_to_average",
            "number",
            "peak over mean demand in a quarter",
            blank="1: steady",
            minimum=1.0,
            maximum=100.0,
        ),
        Field(
            "allowed_sites",
            "names",
            "sites that may serve it; rented racks stand at none",
            blank="every site",
            refers="site",
        ),
        *EVIDENCE_FIELDS,
    ),
)
DEMAND = InputTable(
    "demand",
    "samples per second to be trained on average through each quarter",
    (
        Field("workload", "name", "the workload", key=True, refers="workload"),
        Field("quarter", "quarter", "the quarter", key=True),
        Field(
            "demand_samples_per_s",
            "number",
            "mean rate",
            "sample/s",
            minimum=0.0,
            attribute="samples_per_s",
            usual=(1.0, 1e12),
        ),
        *EVIDENCE_FIELDS,
    ),
)


def _over(name: str, kind: Kind, meaning: str, unit: str = "", **limits: float) -> Field:
    return Field(
        name,
        kind,
        meaning,
        unit,
        blank="as in the catalog",
        positive=True,
        minimum=0.0,
        maximum=limits.get("maximum"),
    )


ACCELERATORS = InputTable(
    "accelerators",
    "planning figures by accelerator that override the catalog",
    (
        Field("accelerator", "name", "the accelerator", key=True, refers="accelerator"),
        Field("available_from", "quarter", "first quarter in volume", blank="as in the catalog"),
        _over("provisioned_cap_w", "number", "device power cap that power is planned with", "W"),
        _over("idle_w", "number", "device power when idle", "W"),
        Field(
            "facility_fixed_w_per_device",
            "number",
            "facility power per device that does not follow the cap",
            "W/device",
            blank="as in the catalog",
            minimum=0.0,
        ),
        _over("facility_slope_w_per_cap_w", "number", "facility power per watt of cap", "W/W", maximum=10.0),
        _over(
            "average_to_provisioned_power",
            "number",
            "mean over provisioned power in training",
            "fraction",
            maximum=1.0,
        ),
        _over("devices_per_node", "count", "devices of one host", "device"),
        _over("devices_per_rack", "count", "devices of one rack", "device/rack"),
        _over("rack_it_kw", "number", "IT power of one rack at its nameplate", "kW"),
        Field(
            "cooling", "names", "hall classes that accept the rack", blank="as in the catalog", words=COOLING
        ),
        _over("book_life_years", "number", "straight-line depreciation time", "year", maximum=50.0),
        *EVIDENCE_FIELDS,
    ),
    needed=False,
)
POWER_CAPS = InputTable(
    "power_caps",
    "operating points: power cap and the speed that it leaves",
    (
        Field("accelerator", "name", "the accelerator", key=True, refers="accelerator"),
        Field(
            "cap_w_per_device", "number", "device power cap", "W/device", key=True, positive=True, minimum=0.0
        ),
        Field(
            "speed_factor",
            "number",
            "speed; 1 at the highest cap",
            "fraction",
            positive=True,
            minimum=0.0,
            maximum=1.0,
        ),
        *EVIDENCE_FIELDS,
    ),
    needed=False,
)
MEASURED = InputTable(
    "measured",
    "own measurements, which override the step model",
    (
        Field("workload", "name", "the workload", key=True, refers="workload"),
        Field("accelerator", "name", "the accelerator", key=True, refers="accelerator"),
        Field("devices", "count", "devices of the job", "device", key=True, minimum=1.0),
        Field("local_batch", "count", "samples per device and step", "sample", key=True, minimum=1.0),
        Field(
            "cap_w",
            "number",
            "device power cap",
            "W",
            key=True,
            blank="the highest cap",
            positive=True,
            minimum=0.0,
        ),
        Field(
            "samples_per_s",
            "number",
            "rate of the whole job",
            "sample/s",
            positive=True,
            minimum=0.0,
            usual=(1.0, 1e12),
        ),
        *EVIDENCE_FIELDS,
    ),
    needed=False,
)

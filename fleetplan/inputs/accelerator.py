"""What a device type is: specification, rack, power and price, each figure with its evidence."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fleetplan.figures import Figure

CollectiveEngine = Literal["message-engine", "compute-units"]
Cooling = Literal["air", "aalc", "liquid"]


UNITS: dict[str, str] = {
    "peak_fp32_tflops": "TFLOP/s",
    "peak_tf32_tflops": "TFLOP/s",
    "peak_bf16_tflops": "TFLOP/s",
    "peak_fp8_tflops": "TFLOP/s",
    "peak_fp4_tflops": "TFLOP/s",
    "hbm_gb": "GB",
    "hbm_tb_per_s": "TB/s",
    "hbm_reserve_share": "fraction",
    "sram_mb": "MB",
    "scaleup_domain_devices": "devices",
    "scaleup_gb_per_s": "GB/s",
    "scaleout_gb_per_s": "GB/s",
    "host_link_gb_per_s": "GB/s",
    "tdp_w": "W",
    "idle_w": "W",
    "typical_w": "W",
    "node_w": "W",
    "provisioned_cap_w": "W",
    "facility_fixed_w_per_device": "W",
    "facility_slope_w_per_cap_w": "W/W",
    "average_to_provisioned_power": "fraction",
    "devices_per_node": "devices",
    "devices_per_rack": "devices",
    "rack_it_kw": "kW",
    "price_musd_per_rack": "MUSD",
    "book_life_years": "years",
    "embodied_kgco2e_per_device": "kgCO2e",
    "lead_time_weeks": "weeks",
}
"""Numeric fields of an accelerator and the unit that their value is held in."""


class PowerCap(BaseModel):
    """One operating point: device power cap and the speed it leaves (1 at the highest cap)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cap_w: float
    speed: float


class Accelerator(BaseModel):
    """A device type. Bandwidths are one direction per device, FLOP/s dense, sizes decimal.

    A numeric field is ``None`` where the format is not supported or nobody has published the
    figure; :attr:`figures` holds the evidence for each field by its name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    name: str
    title: str
    vendor: str
    aliases: tuple[str, ...] = ()
    available_from: str | None = None
    """First quarter in volume, like ``2026Q4``."""

    peak_fp32_tflops: float | None = None
    peak_tf32_tflops: float | None = None
    peak_bf16_tflops: float
    peak_fp8_tflops: float | None = None
    peak_fp4_tflops: float | None = None
    hbm_gb: float
    hbm_tb_per_s: float
    hbm_reserve_share: float | None = None
    """Share of device memory kept free for activations, buffers and fragmentation."""
    sram_mb: float | None = None

    scaleup_domain_devices: int
    scaleup_gb_per_s: float
    scaleout_gb_per_s: float
    host_link_gb_per_s: float | None = None
    nic_on_package: bool = False
    collective_engine: CollectiveEngine = "compute-units"
    in_switch_reduction: bool = False

    tdp_w: float
    idle_w: float | None = None
    typical_w: float | None = None
    node_w: float | None = None
    """Whole host including its devices, at its rating."""
    power_caps: tuple[PowerCap, ...] = ()
    provisioned_cap_w: float | None = None
    facility_fixed_w_per_device: float | None = None
    """Facility watts per device that do not follow the cap: host, network, services, cooling."""
    facility_slope_w_per_cap_w: float | None = None
    """Facility watts per watt of cap (peak PUE and losses inside)."""
    average_to_provisioned_power: float | None = None

    devices_per_node: int | None = None
    devices_per_rack: int | None = None
    rack_it_kw: float | None = None
    cooling: tuple[Cooling, ...] = ()
    """Hall classes that accept the rack."""

    price_musd_per_rack: float | None = None
    book_life_years: float | None = None
    embodied_kgco2e_per_device: float | None = None
    lead_time_weeks: float | None = None

    figures: dict[str, Figure] = {}

    def facility_kw_per_device(self, cap_w: float) -> float:
        """Peak facility kW of one device at a cap: fixed + slope x cap.

        Source: linear law that reproduces the four published ratios of arXiv:2605.24461 for GB200.
        """
        if self.facility_fixed_w_per_device is None or self.facility_slope_w_per_cap_w is None:
            message = f"{self.name} has no facility power law"
            raise ValueError(message)
        return (self.facility_fixed_w_per_device + self.facility_slope_w_per_cap_w * cap_w) / 1000

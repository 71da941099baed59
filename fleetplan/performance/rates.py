"""What an accelerator delivers: specification x calibrated constants, for one context."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
from numpy.typing import NDArray

from fleetplan.errors import UsageError
from fleetplan.inputs.accelerator import Accelerator
from fleetplan.inputs.architecture import Dtype
from fleetplan.performance.constants import Constant, Constants, Context

GIGA = 1e9
TERA = 1e12


@dataclass(frozen=True)
class Rates:
    """Rates of one accelerator in SI units; ``rates["name"]`` is a constant's value there."""

    accelerator: Accelerator
    constants: Constants
    context: Context
    used: dict[str, Constant] = field(default_factory=dict)
    """Constants that were looked up, by name: what an answer rests on."""
    moved: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    """Values per option for some constants and specifications, as bands need them."""

    def __getitem__(self, name: str) -> float:
        """Value of a constant in this context.

        Where bands moved it, it is an array with one value per option, which behaves as a number does.
        """
        if name not in self.used:
            self.used[name] = self.constants.get(name, self.context)
        return cast("float", self.moved.get(name, self.used[name].value))

    def spec(self, name: str) -> float | None:
        """A figure of the accelerator, ``None`` where it is not known; or one per option."""
        return cast("float | None", self.moved.get(name, getattr(self.accelerator, name)))

    def _known(self, name: str) -> float:
        return cast("float", self.spec(name))

    @property
    def hbm(self) -> float:
        """Peak HBM rate, B/s."""
        return self._known("hbm_tb_per_s") * TERA

    @property
    def hbm_stream(self) -> float:
        """HBM rate of large elementwise kernels, B/s."""
        return self.hbm * self["hbm_stream_share"]

    @property
    def scaleup(self) -> float:
        """Link rate inside a domain, one direction, B/s."""
        return self._known("scaleup_gb_per_s") * GIGA

    @property
    def scaleout(self) -> float:
        """NIC rate of one device, one direction, B/s."""
        return self._known("scaleout_gb_per_s") * GIGA

    @property
    def domain(self) -> int:
        """Devices joined by the fast fabric."""
        return max(1, self.accelerator.scaleup_domain_devices)

    @property
    def is_offloaded(self) -> bool:
        """Whether message engines run the collectives (no compute cycles taken)."""
        return self.accelerator.collective_engine == "message-engine"

    @property
    def host_link_scale(self) -> float:
        """Host link over the one on which the host tier was measured."""
        link = self.spec("host_link_gb_per_s")
        reference = self["host_link_reference_gb_per_s"]
        return 1.0 if link is None else link / reference

    def peak_flops(self, precision: Dtype) -> float:
        """Dense peak of a number format, FLOP/s; a format that is missing runs in the next wider one."""
        start = list(_FORMATS).index(_ALIASES.get(precision, precision))
        wider = [self.spec(_FORMATS[name]) for name in list(_FORMATS)[start:]]
        rate = next((r for r in wider if r is not None), None)
        if rate is None:
            message = f"{self.accelerator.name} has no published {precision} rate or a wider one"
            raise UsageError(message)
        return rate * TERA


_FORMATS = {
    "fp4": "peak_fp4_tflops",
    "fp8": "peak_fp8_tflops",
    "bf16": "peak_bf16_tflops",
    "tf32": "peak_tf32_tflops",
    "fp32": "peak_fp32_tflops",
}
_ALIASES = {"fp16": "bf16", "int8": "fp8"}

"""How good something must be for one chip to overtake another on a model, and whether we know.

Each driver is scaled until the challenger's figure of merit equals the incumbent's (bisection on a
monotone curve). The range that today's knowledge allows for the driver then says: ahead whatever it
is, behind whatever it is, or open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from fleetplan.errors import UsageError
from fleetplan.performance import power
from fleetplan.performance.evaluate import Settings, evaluate
from fleetplan.performance.fit_power import (
    BOOK_LIFE_YEARS,
    ENERGY_USD_PER_MWH,
    HOURS_PER_YEAR,
    MAINTENANCE_SHARE,
)
from fleetplan.performance.layouts import best_layout

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.inputs.accelerator import Accelerator
    from fleetplan.inputs.architecture import Model
    from fleetplan.performance.rates import Rates

Merit = Literal["samples_per_s", "samples_per_s_per_kw", "samples_per_usd"]
Verdict = Literal["ahead in all of the range", "behind in all of the range", "open"]
_OVERLAP = tuple(
    f"overlap_{side}_{kind}"
    for side in ("compute", "comm")
    for kind in ("alltoall", "allreduce", "allgather")
)


@dataclass(frozen=True)
class Driver:
    """What is turned: constants (by name) or specifications, scaled together; ``top`` bounds the value."""

    name: str
    meaning: str
    targets: tuple[str, ...]
    top: float = np.inf


DRIVERS = (
    Driver("offload", "compute and link rates kept while collectives run (kc, km)", _OVERLAP, top=1.0),
    Driver("scale-out", "NIC rate per device, GB/s", ("scaleout_gb_per_s",)),
    Driver("scale-up", "link rate inside a domain, GB/s", ("scaleup_gb_per_s",)),
    Driver(
        "embedding",
        "embedding kernels, share of HBM peak",
        ("embedding_forward_share", "embedding_backward_share"),
        top=1.0,
    ),
    Driver("matrix products", "workload share of the best matrix product", ("gemm_workload_share",), top=1.3),
    Driver("kernel cost", "fixed microseconds per kernel", ("kernel_fixed_us",)),
    Driver("price", "price of a rack, M USD", ("price_musd_per_rack",)),
)
REACH = 16.0
"""A driver is turned from 1/16 to 16 times its middle."""


def breakeven(
    model: Model,
    challenger: Accelerator,
    incumbent: Accelerator,
    *,
    devices: int | None = None,
    merit: Merit = "samples_per_s_per_kw",
    settings: Settings | None = None,
) -> pd.DataFrame:
    """One row per driver of the challenger: today's value and range, the value at which it draws level.

    Both train the model at its reference batch on ``devices`` devices (the reference by default), each
    at its best layout. ``merit`` is compared per device: rate, rate per provisioned facility kW, or rate
    per dollar of a year. ``breakeven`` is empty where no value in reach is enough; ``lead_low`` and
    ``lead_high`` are the challenger's merit over the incumbent's at the ends of the driver's range.
    """
    import pandas as pd

    chosen = settings or Settings(stack="production")
    size = devices or model.reference_devices
    target = _Merit(model, incumbent, size, merit, chosen).at({})
    own = _Merit(model, challenger, size, merit, chosen)
    rows = [_row(driver, own, target) for driver in DRIVERS if own.knows(driver)]
    if not rows:
        message = f"{merit} of {challenger.name} depends on no driver"
        raise UsageError(message)
    return pd.DataFrame(rows)


@dataclass(frozen=True)
class _Merit:
    """Merit per device of one accelerator as a function of scaled drivers."""

    model: Model
    accelerator: Accelerator
    devices: int
    merit: Merit
    settings: Settings

    def at(self, scales: dict[str, float], price: float = 1.0) -> float:
        """Merit with constants or specifications multiplied by ``scales``."""
        rates = self._rates()
        moved = {name: np.array([_value(rates, name) * scale]) for name, scale in scales.items()}
        layout = best_layout(
            self.model, self.accelerator, self.devices, self.model.local_batch, self.settings
        )
        made = evaluate(
            self.model,
            self.accelerator,
            devices=self.devices,
            layout=layout,
            settings=self.settings,
            moved=moved,
        )
        rate = float(made.samples_per_s[0] * made.goodput[0]) / self.devices
        return rate / self._per(price)

    def _per(self, price: float) -> float:
        cap = power.highest_cap(self.accelerator)
        kilowatts = float(power.facility_watts(self.accelerator, cap)) / 1e3
        if self.merit == "samples_per_s":
            return 1.0
        if self.merit == "samples_per_s_per_kw":
            return kilowatts
        rack, count = self.accelerator.price_musd_per_rack, self.accelerator.devices_per_rack
        if rack is None or not count:
            message = f"{self.accelerator.name} has no price"
            raise UsageError(message)
        capital = rack * price / count * 1e6
        life = self.accelerator.book_life_years or BOOK_LIFE_YEARS
        average = kilowatts * (self.accelerator.average_to_provisioned_power or 1.0)
        energy = average / 1e3 * HOURS_PER_YEAR * ENERGY_USD_PER_MWH
        return capital * (1 / life + MAINTENANCE_SHARE) + energy

    def knows(self, driver: Driver) -> bool:
        """Whether the driver has a value here and bears on the merit."""
        if driver.name == "price":
            return self.merit == "samples_per_usd" and self.accelerator.price_musd_per_rack is not None
        return True

    def scaled(self, driver: Driver, scale: float) -> float:
        """Merit with one driver scaled, each target held at or under the driver's top."""
        if driver.name == "price":
            return self.at({}, price=scale)
        rates = self._rates()
        return self.at({name: min(scale, driver.top / _value(rates, name)) for name in driver.targets})

    def interval(self, driver: Driver) -> tuple[float, float, float]:
        """(value, low, high) of the driver's first target."""
        name = driver.targets[0]
        figure = self.accelerator.figures.get(name)
        if figure is not None or hasattr(self.accelerator, name):
            value = float(getattr(self.accelerator, name))
            low = value if figure is None or figure.low is None else figure.low
            high = value if figure is None or figure.high is None else figure.high
            return value, low, high
        constant = self.settings.rates(self.model, self.accelerator).constants.get(
            name, self._rates().context
        )
        return constant.value, constant.low, constant.high

    def _rates(self) -> Rates:
        return self.settings.rates(self.model, self.accelerator)


def _value(rates: Rates, name: str) -> float:
    spec = getattr(rates.accelerator, name, None)
    return float(rates[name] if spec is None else spec)


def _row(driver: Driver, own: _Merit, target: float) -> dict[str, object]:
    value, low, high = own.interval(driver)
    lead = [own.scaled(driver, end / value) / target for end in (low, high)]
    scale = _root(lambda s: own.scaled(driver, s) / target - 1)
    return {
        "driver": driver.name, "meaning": driver.meaning, "value": value, "low": low, "high": high,
        "breakeven": None if scale is None else value * scale, "lead_today": own.scaled(driver, 1.0) / target,
        "lead_low": lead[0], "lead_high": lead[1], "verdict": _verdict(lead),
    }  # fmt: skip


def _verdict(lead: list[float]) -> Verdict:
    if min(lead) >= 1:
        return "ahead in all of the range"
    return "behind in all of the range" if max(lead) < 1 else "open"


def _root(gap: Callable[[float], float]) -> float | None:
    """Scale at which a monotone gap crosses zero, within reach; ``None`` where it does not."""
    from scipy.optimize import brentq

    ends = np.log(1 / REACH), np.log(REACH)
    first, last = gap(1 / REACH), gap(REACH)
    if first * last > 0:
        return None
    return float(np.exp(brentq(lambda x: gap(float(np.exp(x))), *ends, xtol=1e-4)))

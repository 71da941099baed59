"""How a job is spread over devices: dense, sparse and pipeline parallelism, and where tables lie."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fleetplan.errors import UsageError
from fleetplan.performance.sharding import Scheme

DenseParallel = Literal["ddp", "fsdp", "hsdp"]
Tier = Literal["hbm", "cached", "host"]


@dataclass(frozen=True)
class Layout:
    """One way to spread a job. Tables are always sharded over the devices of one sparse replica."""

    dense: DenseParallel = "ddp"
    """ddp: a copy per device; fsdp: sharded over all; hsdp: sharded in a domain, copied across."""
    sparse_replicas: int = 1
    """Copies of the sharded tables (2D-sparse): the all-to-all group is devices / replicas."""
    stages: int = 1
    """Pipeline stages of the dense part."""
    micro_batches: int = 1
    tier: Tier = "hbm"
    """Tables in HBM, on the host behind an HBM cache, or on the host."""
    scheme: Scheme = "auto"
    """How tables are cut over ranks (:mod:`fleetplan.performance.sharding`)."""

    @property
    def name(self) -> str:
        """Short text, like ``hsdp+sharded+2d4+pp2x8+cached``."""
        parts = [self.dense, _SCHEME_NAMES[self.scheme]]
        parts += [f"2d{self.sparse_replicas}"] if self.sparse_replicas > 1 else []
        parts += [f"pp{self.stages}x{self.micro_batches}"] if self.stages > 1 else []
        parts += [self.tier] if self.tier != "hbm" else []
        return "+".join(parts)

    @classmethod
    def parse(cls, name: str) -> Layout:
        """Read :attr:`name` back; raises ``UsageError`` where a part is not known."""
        dense, *rest = name.split("+")
        if dense not in {"ddp", "fsdp", "hsdp"}:
            message = f"layout {name!r}: starts with ddp, fsdp or hsdp"
            raise UsageError(message)
        values: dict[str, object] = {"dense": dense}
        for part in rest:
            values |= _part(part, name)
        return cls(**values)  # type: ignore[arg-type]  # every value was checked by its part


_SCHEME_NAMES: dict[Scheme, str] = {
    "auto": "sharded",
    "table-wise": "table-wise",
    "column-wise": "column-wise",
    "row-wise": "row-wise",
    "table-row-wise": "table-row-wise",
}


def _part(part: str, name: str) -> dict[str, object]:
    if part in _SCHEME_NAMES.values():
        return {"scheme": next(key for key, text in _SCHEME_NAMES.items() if text == part)}
    if part in {"cached", "host"}:
        return {"tier": part}
    if part.startswith("2d") and part[2:].isdigit():
        return {"sparse_replicas": int(part[2:])}
    stages, _, micro = part.removeprefix("pp").partition("x")
    if part.startswith("pp") and stages.isdigit() and micro.isdigit():
        return {"stages": int(stages), "micro_batches": int(micro)}
    known = ", ".join([*_SCHEME_NAMES.values(), "2d<N>", "pp<N>x<M>", "cached", "host"])
    message = f"layout {name!r}: part {part!r} is none of {known}"
    raise UsageError(message)

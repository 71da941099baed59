"""Step evaluations per second on one core: ``python -m benchmarks.performance.evaluations``."""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import time
from statistics import median

import numpy as np

from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.inputs.load import load_scenario
from fleetplan.performance import performance_table
from fleetplan.performance.evaluate import evaluate

OPTIONS = 100_000
BLOCK = 8_000
"""Options in one call: their arrays stay in the processor's cache."""
ROUNDS = 3
PAIRS = (
    ("dlrm-dcnv2", "h100"),
    ("mtia300-dlrm-150b", "mtia-300"),
    ("hstu-recsys-examples", "gb200"),
    ("wukong-637b", "mi355x"),
)


def measure(model: str, accelerator: str) -> float:
    """Options per processor second for one model and accelerator, median: devices x batch x cap."""
    architecture, device = load_model(model), load_accelerator(accelerator)
    rng = np.random.default_rng(0)
    devices = rng.choice(np.arange(1, 65) * 8, OPTIONS).astype(np.float64)
    batch = np.maximum(1, architecture.local_batch * rng.uniform(0.25, 4, OPTIONS)).round()
    caps = rng.choice([point.cap_w for point in device.power_caps], OPTIONS)
    evaluate(architecture, device, devices=np.unique(devices), local_batch=8)
    seconds = []
    for _ in range(ROUNDS):
        start = time.process_time()
        for first in range(0, OPTIONS, BLOCK):
            part = slice(first, first + BLOCK)
            made = evaluate(
                architecture, device, devices=devices[part], local_batch=batch[part], cap_w=caps[part]
            )
            if not np.isfinite(made.samples_per_s).all():
                message = f"{model} on {accelerator}: not every rate is finite"
                raise RuntimeError(message)
        seconds.append(time.process_time() - start)
    return OPTIONS / median(seconds)


def main() -> None:
    for model, accelerator in PAIRS:
        print(f"{model:24s} {accelerator:10s} {measure(model, accelerator):12,.0f} evaluations/s")
    scenario = load_scenario("public-2026")
    start = time.process_time()
    table = performance_table(scenario)
    seconds = time.process_time() - start
    pruning = table.attrs["pruning"]
    print(
        f"option table of {scenario.name}: {pruning.computed:,} options, {len(table)} kept, {seconds:.1f} s"
    )


if __name__ == "__main__":
    main()

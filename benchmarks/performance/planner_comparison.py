"""Our embedding and step estimate beside TorchRec's planner and the measured step, on the MLPerf tables.

The planner runs in an environment of its own:

    python3 -m venv /tmp/torchrec
    /tmp/torchrec/bin/pip install --no-deps torch==2.13.0 torchrec==1.8.0 fbgemm-gpu-cpu==1.8.0
    /tmp/torchrec/bin/pip install sympy networkx jinja2 fsspec filelock typing_extensions numpy tensordict \
        iopath pyre-extensions torchmetrics tqdm
    python -m benchmarks.performance.planner_comparison /tmp/torchrec/bin/python
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from fleetplan.inputs.catalog import load_accelerator, load_model
from fleetplan.performance.one_step import step

# MLPerf training rates of NVIDIA's entries, v3.0 (A100: Dell) to v5.0: accelerator, devices, batch, samples/s
MEASURED = (("a100", 8, 55296, 7.73e6), ("h100", 8, 55296, 15.626e6), ("h100", 64, 135168, 57.081e6),
            ("h200", 8, 55296, 17.04e6), ("b200", 8, 55296, 25.618e6))  # fmt: skip
EMBEDDING_PARTS = ("lookup", "sparse update")


def torchrec(python: str, accelerator: str, devices: int, batch: int) -> dict[str, float]:
    """TorchRec's answer for the MLPerf tables."""
    model, device = load_model("dlrm-dcnv2"), load_accelerator(accelerator)
    job: dict[str, Any] = {
        "tables": [
            {"name": t.name, "rows": t.rows, "dim": t.dim, "pooling": t.pooling} for t in model.tables
        ],
        "devices": devices,
        "per_node": 8,
        "local_batch": batch // devices,
        "hbm_gb": device.hbm_gb,
        "hbm_gb_per_s": device.hbm_tb_per_s * 1e3,
        "scaleup_gb_per_s": device.scaleup_gb_per_s,
        "scaleout_gb_per_s": device.scaleout_gb_per_s,
    }
    script = Path(__file__).with_name("torchrec_side.py")
    done = subprocess.run(
        [python, str(script)], input=json.dumps(job), capture_output=True, text=True, check=True
    )
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def main() -> None:
    print(
        f"{'system':12s} {'measured step':>14s} {'our step':>9s} {'our sparse part':>16s} {'TorchRec':>9s} {'our s':>7s} {'its s':>7s}"
    )
    for accelerator, devices, batch, rate in MEASURED:
        start = time.perf_counter()
        made = step(
            load_model("dlrm-dcnv2"), load_accelerator(accelerator), devices=devices, global_batch=batch
        )
        ours = time.perf_counter() - start
        other = torchrec(sys.argv[1], accelerator, devices, batch)
        sparse = sum(made.parts_ms.get(name, 0.0) for name in EMBEDDING_PARTS)
        sparse += made.isolated_ms["alltoall_forward"] + made.isolated_ms["alltoall_backward"]
        print(
            f"{accelerator} x {devices:<5d} {batch / rate * 1e3:11.2f} ms {made.step_ms:9.2f} {sparse:16.2f}"
            f" {other['max_rank_ms']:9.2f} {ours:7.3f} {other['plan_seconds']:7.2f}"
        )


if __name__ == "__main__":
    main()

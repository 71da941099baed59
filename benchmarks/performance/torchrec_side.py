"""TorchRec's side of the comparison; runs in an environment of its own that has torchrec only.

Reads a job as JSON on stdin (tables, world size, batch, rates) and prints the planner's estimate in ms.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

BYTES_PER_MS = 1e6
"""The planner's bandwidths are in bytes per millisecond; 1 GB/s is a million of them."""


def main() -> None:
    import torch  # type: ignore[import-not-found]
    from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder  # type: ignore[import-not-found]
    from torchrec.distributed.planner import EmbeddingShardingPlanner, ParameterConstraints, Topology  # type: ignore[import-not-found]
    from torchrec.modules.embedding_configs import EmbeddingBagConfig  # type: ignore[import-not-found]
    from torchrec.modules.embedding_modules import EmbeddingBagCollection  # type: ignore[import-not-found]

    job = json.load(sys.stdin)
    captured: dict[str, Any] = {}

    class Capture:
        """Keeps the best plan's options, whose shards carry the estimates."""

        def log(self, **kwargs: Any) -> None:
            captured.update(kwargs)

    bags = EmbeddingBagCollection(
        device=torch.device("meta"),
        tables=[
            EmbeddingBagConfig(
                name=t["name"], num_embeddings=t["rows"], embedding_dim=t["dim"], feature_names=[t["name"]]
            )
            for t in job["tables"]
        ],
    )
    topology = Topology(
        world_size=job["devices"],
        local_world_size=job["per_node"],
        compute_device="cuda",
        hbm_cap=int(job["hbm_gb"] * 1e9),
        hbm_mem_bw=job["hbm_gb_per_s"] * BYTES_PER_MS,
        intra_host_bw=job["scaleup_gb_per_s"] * BYTES_PER_MS,
        inter_host_bw=job["scaleout_gb_per_s"] * BYTES_PER_MS,
    )
    constraints = {
        t["name"]: ParameterConstraints(pooling_factors=[float(t["pooling"])]) for t in job["tables"]
    }
    planner = EmbeddingShardingPlanner(
        topology=topology, batch_size=job["local_batch"], constraints=constraints, stats=[Capture()]
    )
    start = time.perf_counter()
    planner.plan(module=torch.nn.ModuleDict({"ebc": bags}), sharders=[EmbeddingBagCollectionSharder()])
    seconds = time.perf_counter() - start
    ranks: dict[int, float] = {}
    for option in captured["best_plan"]:
        for shard in option.shards:
            ranks[shard.rank] = ranks.get(shard.rank, 0.0) + shard.perf.total
    print(json.dumps({"max_rank_ms": max(ranks.values()), "plan_seconds": seconds}))


if __name__ == "__main__":
    main()

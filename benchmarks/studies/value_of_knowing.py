"""VSS and EVPI of random small cases: neither may be below zero.

python -m benchmarks.studies.value_of_knowing 100
"""

from __future__ import annotations

import random
import sys

from fleetplan.studies.commit import commit
from fleetplan.studies.extensive import Risk
from tests.studies.small_worlds import workshop
from tests.studies.test_commit import tree, two_chances

ROUNDING = 1e-6


def main(count: int) -> None:
    """Print the least, the median and the largest of both."""
    vss, evpi = [], []
    for seed in range(count):
        draw = random.Random(seed)
        rates = [draw.uniform(1.0, 9.0) for _ in range(draw.randint(2, 4))]
        weights = [draw.randint(1, 5) for _ in rates]
        futures = tree(rates, [weight / sum(weights) for weight in weights])
        risk = Risk(draw.choice([0.0, 0.5]), 0.3)
        made = commit(workshop(two_chances(draw.uniform(0.5, 1.6))), futures, risk=risk, regrets=False)
        vss.append(made.vss)
        evpi.append(made.evpi)
    for name, values in (("VSS", sorted(vss)), ("EVPI", sorted(evpi))):
        below = sum(value < -ROUNDING for value in values)
        print(
            f"{name}: {len(values)} cases, {below} below zero; least {values[0]:.4f}, "
            f"median {values[len(values) // 2]:.4f}, largest {values[-1]:.4f} M USD"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]))

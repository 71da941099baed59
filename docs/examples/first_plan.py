"""Plan the bundled small scenario and look at what it says."""

import sys
from pathlib import Path

import fleetplan

out = Path(sys.argv[1] if len(sys.argv) > 1 else "reports/example-first")

plan = fleetplan.optimize(fleetplan.load_scenario("small-2026"), gap=0.005)
print("\n".join(plan.summary().lines()))

print("\nRacks alive at the end, by accelerator:")
last = plan.fleet["period"].max()
print(plan.fleet[plan.fleet["period"] == last].groupby("accelerator")["racks"].sum())

folder = plan.save(out)
(out.with_suffix(".html")).write_text(plan.to_html(), encoding="utf-8")
print(f"\n{folder}")

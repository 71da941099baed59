"""Cash by year and item, the books, and a workbook with live totals, from a plan."""

import sys
from pathlib import Path

import fleetplan
from fleetplan.report import write_report

out = Path(sys.argv[1] if len(sys.argv) > 1 else "reports/example-finance")

plan = fleetplan.optimize(fleetplan.load_scenario("small-2026"), gap=0.005)
ledger = plan.ledger
cash = ledger.assign(year=ledger["period"].str[:4]).pivot_table(
    index="item", columns="year", values="amount_musd", aggfunc="sum", fill_value=0.0
)
print(cash.round(1))

books = plan.books.groupby("period")[["depreciation_musd", "write_off_musd", "closing_musd"]].sum()
print(books.round(1))
print(write_report(plan, ["xlsx"], out)[0])

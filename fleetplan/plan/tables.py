"""From a solved planning model to the tables of a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fleetplan.plan import fleet_tables, schema, use_tables
from fleetplan.plan.ledger import ledger
from fleetplan.plan.orders_table import orders
from fleetplan.plan.solved import solved

if TYPE_CHECKING:
    import pandas as pd

    from fleetplan.planning.form import Floats
    from fleetplan.planning.model import PlanningModel
    from fleetplan.solving.arrays import Compiled


def extract(model: PlanningModel, compiled: Compiled, x: Floats) -> dict[str, pd.DataFrame]:
    """Read a solution into the tables of :data:`fleetplan.plan.schema.TABLES`, typed and sorted.

    ``x`` is in the order of the compiled columns. Powers are facility MW, money nominal M USD.
    """
    solution = solved(model, compiled, x)
    retired = fleet_tables.retirements(solution)
    modes = use_tables.modes(solution)
    assigned = use_tables.assignment(solution)
    frames = {
        "orders": orders(solution),
        "fleet": fleet_tables.fleet(solution),
        "retirements": retired,
        "roles": fleet_tables.roles(solution),
        "modes": modes,
        "assignment": assigned,
        "work": use_tables.work(solution, assigned),
        "power": use_tables.power(solution),
        "power_by_accelerator": use_tables.power_by_accelerator(modes),
        "energy": use_tables.energy(solution),
        "books": fleet_tables.books(solution, retired),
        "ledger": ledger(solution),
    }
    return {spec.name: spec.frame(frames[spec.name]) for spec in schema.TABLES}

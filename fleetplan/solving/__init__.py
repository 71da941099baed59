"""Solving: any linear Pyomo model with integers -> arrays -> HiGHS, with an own proof of the gap.

This room knows nothing of fleets. The usual way::

    model, compiled = build_and_compile(build)
    result = require_plan(solve(compiled, SolveOptions(gap_rel=1e-3)))
"""

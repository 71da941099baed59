"""Studies over many plans: sweeps, break-even, fronts, alternatives, uncertainty, rolling plans."""

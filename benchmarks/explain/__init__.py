"""Explanations held against re-runs: the value of a megawatt, the price at which an accelerator enters."""

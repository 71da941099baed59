"""Benchmarks of the step model."""

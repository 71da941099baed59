"""Profiler traces: read them, say where the steps go, fit the step model to them."""

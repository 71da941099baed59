"""Traces: large files."""

"""Studies: warm cases against cold plans."""

"""Size and times of reports."""

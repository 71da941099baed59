"""What a plan is: its tables, ledger, audit, manifest, folder and summary."""

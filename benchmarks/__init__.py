"""Retentive beside the obvious do-it-yourself build, measured in one run: `python -m benchmarks`."""

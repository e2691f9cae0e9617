"""Weights of the judges, as JSON: made by `python -m benchmarks.train_judges`."""

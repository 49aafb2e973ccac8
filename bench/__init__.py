"""Benchmarks: plain figures and ratios, what is compared side by side in one run (spec 6.1)."""

"""Hypothesis: the same moderate number of examples every time; HYPOTHESIS_PROFILE=thorough for a long, random run."""

import os

from hypothesis import HealthCheck, settings

checks = list(HealthCheck)
settings.register_profile("default", max_examples=100, deadline=None, derandomize=True, suppress_health_check=checks)
settings.register_profile("thorough", max_examples=5_000, deadline=None, suppress_health_check=checks)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

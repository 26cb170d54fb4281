"""Hypothesis: a moderate number of examples by default; HYPOTHESIS_PROFILE=thorough for a long run."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile("default", max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
settings.register_profile("thorough", max_examples=5_000, deadline=None, suppress_health_check=list(HealthCheck))
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))

"""How a plan is shown: as text, as JSON, as a picture."""

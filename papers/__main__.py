"""`python -m papers`."""

from papers.command import app

app(prog_name="python -m papers")

"""`python -m punctuated` is the command `punctuated`."""

from punctuated.cli import app

app()

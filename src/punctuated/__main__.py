"""`python -m punctuated` is the command `punctuated`."""

from punctuated.cli.main import app

app()

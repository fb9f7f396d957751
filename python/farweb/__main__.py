"""`python -m farweb`: the same as the command `farweb`."""

from farweb.cli import script

script()

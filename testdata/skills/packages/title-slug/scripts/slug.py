"""Prints a file name for a title."""
import sys

from slugify import slugify

if len(sys.argv) < 2:
    sys.exit("usage: slug.py TITLE")
print(slugify(" ".join(sys.argv[1:]), replacements=[["&", "and"]]))

#!/usr/bin/env -S uv run --script
# /// script
# requires-python = ">=3.9"
# dependencies = ["humanize>=4"]
# ///
"""Prints the files below a directory with their sizes, largest first."""
import os
import sys

import humanize


def sizes(top):
    for directory, _, names in os.walk(top):
        for name in names:
            path = os.path.join(directory, name)
            if os.path.isfile(path) and not os.path.islink(path):
                yield os.path.getsize(path), os.path.relpath(path, top)


def main():
    if len(sys.argv) != 2 or not os.path.isdir(sys.argv[1]):
        sys.exit("usage: sizes.py DIRECTORY")
    found = sorted(sizes(sys.argv[1]), key=lambda each: (-each[0], each[1]))
    for size, path in found:
        print(f"{humanize.naturalsize(size):>10}  {path}")
    print(f"{humanize.naturalsize(sum(size for size, _ in found)):>10}  in all")


main()

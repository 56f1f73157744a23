#!/usr/bin/env python3
"""Draws brand colours as a PNG, or gives the contrast of two of them.

Standard library only. Exit codes: 0 done, 1 contrast below 4.5, 2 wrong usage,
3 unknown colour, 5 the picture cannot be written.
"""

import argparse
import csv
import difflib
import os
import pathlib
import re
import struct
import sys
import zlib

SKILL = pathlib.Path(__file__).resolve().parent.parent
WORKSPACE = pathlib.Path(os.environ.get("WORKSPACE") or ".")
PALETTE = SKILL / "assets" / "Farbtöne.csv"
TILE_PIXELS = 64
MAX_COLOURS = 64
LEAST_CONTRAST = 4.5  # WCAG 2.2, success criterion 1.4.3


class Failure(Exception):
    """An expected failure: an exit code and a message for the caller."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def palette():
    """Gives the brand's colours as name -> (red, green, blue)."""
    with open(PALETTE, encoding="utf-8", newline="") as stream:
        return {row["name"]: from_hex(row["hex"]) for row in csv.DictReader(stream)}


def from_hex(text):
    return tuple(int(text[i : i + 2], 16) for i in (1, 3, 5))


def colour(text, known):
    """Finds a colour by name, in any letter case, or by hex value."""
    if re.fullmatch("#[0-9A-Fa-f]{6}", text):
        return from_hex(text)
    for name, value in known.items():
        if name.casefold() == text.casefold():
            return value
    close = difflib.get_close_matches(text, known, n=1)
    hint = f"did you mean {close[0]}?" if close else f"there are: {', '.join(known)}"
    raise Failure(3, f"unknown colour '{text}'; {hint}")


def luminance(rgb):
    """Gives the relative luminance, 0 to 1, as WCAG defines it."""
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in (v / 255 for v in rgb)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(first, second):
    """Gives the contrast ratio of two colours, 1 to 21."""
    low, high = sorted((luminance(first), luminance(second)))
    return (high + 0.05) / (low + 0.05)


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(colours):
    """Draws the colours side by side, one tile each."""
    line = b"\0" + b"".join(bytes(rgb) * TILE_PIXELS for rgb in colours)
    header = struct.pack(">IIBBBBB", TILE_PIXELS * len(colours), TILE_PIXELS, 8, 2, 0, 0, 0)
    body = zlib.compress(line * TILE_PIXELS, 9)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def run(options):
    known = palette()
    if options.contrast:
        ratio = contrast(*(colour(text, known) for text in options.contrast))
        print(f"contrast {' / '.join(options.contrast)}: {ratio:.2f}:1", "(readable)" if ratio >= LEAST_CONTRAST else "(too low for text)")
        return 0 if ratio >= LEAST_CONTRAST else 1
    names = list(known) if options.all else options.colours
    picture = png([colour(name, known) for name in names])
    try:
        (WORKSPACE / options.out).write_bytes(picture)
    except OSError as error:
        raise Failure(5, f"cannot write '{options.out}': {error.strerror}") from error
    print(f"{options.out}: {len(names)} colours, left to right: {', '.join(names)}")
    return 0


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="swatch.py", description="Draws brand colours.", allow_abbrev=False)
    parser.add_argument("colours", nargs="*", metavar="COLOUR", help="a name from Farbtöne.csv, or #RRGGBB")
    parser.add_argument("--all", action="store_true", help="every colour of the brand")
    parser.add_argument("--contrast", nargs=2, metavar="COLOUR", help="print the contrast of two colours")
    parser.add_argument("--out", default="swatch.png", metavar="FILE", help="the picture, in the workspace")
    options = parser.parse_args(arguments)
    if sum(map(bool, (options.colours, options.all, options.contrast))) != 1:
        parser.error("give colours, or --all, or --contrast")
    if len(options.colours) > MAX_COLOURS:
        parser.error(f"at most {MAX_COLOURS} colours")
    return options


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        return run(parse_arguments(sys.argv[1:]))
    except Failure as failure:
        print(f"swatch.py: {failure}", file=sys.stderr)
        return failure.code


if __name__ == "__main__":
    sys.exit(main())

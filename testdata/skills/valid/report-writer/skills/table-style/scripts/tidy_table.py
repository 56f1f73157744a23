#!/usr/bin/env python3
"""Tidies the Markdown table on standard input: even widths, numbers right.

Exit codes: 0 done, 2 wrong usage, 4 no table on standard input.
"""

import re
import sys
import unicodedata

NUMBER = re.compile(r"[+-]?[\d.,' ]*\d ?(%|€|\$|[a-zµ]{1,3})?")
BLANK = {"", "-"}


def cells(line):
    """Splits a row; an escaped pipe stays in its cell."""
    line = line.strip().removeprefix("|")
    if line.endswith("|") and not line.endswith("\\|"):
        line = line[:-1]
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)]


def width(text):
    """Gives the number of terminal columns that the text takes."""
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in text)
    return len(text) + wide - sum(bool(unicodedata.combining(c)) for c in text)


def is_rule(row):
    return all(re.fullmatch(":?-+:?", cell) for cell in row)


def tidy(lines):
    rows = [cells(line) for line in lines]
    if len(rows) < 2 or not is_rule(rows[1]):
        return None
    header, body = rows[0], rows[2:]
    count = max(map(len, [header, *body]))
    table = [row + [""] * (count - len(row)) for row in [header, *body]]
    columns = list(zip(*table))
    widths = [max(3, *map(width, column)) for column in columns]
    right = [
        any(cell not in BLANK for cell in column[1:])
        and all(cell in BLANK or NUMBER.fullmatch(cell) for cell in column[1:])
        for column in columns
    ]

    def line_of(row):
        padded = []
        for cell, size, to_right in zip(row, widths, right):
            gap = " " * (size - width(cell))
            padded.append(gap + cell if to_right else cell + gap)
        return "| " + " | ".join(padded) + " |"

    rule = ["-" * (size - 1) + (":" if to_right else "-") for size, to_right in zip(widths, right)]
    return [line_of(table[0]), "| " + " | ".join(rule) + " |", *map(line_of, table[1:])]


def main():
    if len(sys.argv) > 1:
        print("tidy_table.py: takes no arguments; the table comes on standard input", file=sys.stderr)
        return 2
    try:
        text = sys.stdin.buffer.read().decode("utf-8-sig")
    except UnicodeDecodeError:
        print("tidy_table.py: standard input is not UTF-8", file=sys.stderr)
        return 4
    result = tidy([line for line in text.splitlines() if line.strip()])
    if result is None:
        print("tidy_table.py: no table: the second line must be of the form |---|---|", file=sys.stderr)
        return 4
    sys.stdout.reconfigure(encoding="utf-8")
    print("\n".join(result))
    return 0


if __name__ == "__main__":
    sys.exit(main())

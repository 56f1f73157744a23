#!/usr/bin/env python3
"""Writes a Markdown report on data files."""
import argparse
import csv
import json
import os
import string
import sys

USAGE, FILE, FORM = 2, 3, 4
LAYOUT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "assets", "layout.md")


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def files(paths):
    """The data files that paths name, in the order of their names."""
    found = set()
    for path in paths:
        if os.path.isdir(path):
            for directory, below, names in os.walk(path):
                below[:] = [name for name in below if not name.startswith(".")]
                found.update(os.path.join(directory, name) for name in names if name.endswith((".csv", ".json")))
        elif path.endswith((".csv", ".json")):
            found.add(path)
        else:
            raise Failure(FILE, f"{path} is no directory, and neither a .csv nor a .json file")
    if not found:
        raise Failure(FILE, f"there is no .csv or .json file in {', '.join(paths)}")
    return sorted(os.path.normpath(path) for path in found)


def rows(path):
    """The rows of a data file, each a dictionary."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            if path.endswith(".csv"):
                return list(csv.DictReader(file, strict=True))
            table = json.load(file)
    except OSError as e:
        raise Failure(FILE, f"{path}: {e.strerror}")
    except (ValueError, csv.Error) as e:
        raise Failure(FORM, f"{path}: {e}")
    if not isinstance(table, list) or not all(isinstance(row, dict) for row in table):
        raise Failure(FORM, f"{path} is no list of objects")
    return table


def number(value):
    try:
        return None if isinstance(value, bool) else float(value)
    except (TypeError, ValueError):
        return None


def column(name, table):
    """One line of a section: what a column holds."""
    present = [row[name] for row in table if row.get(name) not in (None, "")]
    numbers = [number(value) for value in present]
    if present and None not in numbers:
        holds = f"{min(numbers):g} to {max(numbers):g}, total {sum(numbers):g}"
    else:
        holds = f"different values: {len(set(map(str, present)))}"
    return f"| {cell(name)} | {holds} | {len(table) - len(present)} |"


def cell(value):
    return " ".join(str(value).split()).replace("|", "\\|")


def report(title, paths):
    overview, sections = [], []
    for path in paths:
        table = rows(path)
        names = list(dict.fromkeys(str(name) for row in table for name in row if name is not None))
        overview.append(f"| {cell(path)} | {len(table)} | {len(names)} |")
        lines = [f"## {cell(path)}", "", "| column | holds | missing |", "|---|---|---:|"]
        sections.append("\n".join(lines + [column(name, table) for name in names]))
    with open(LAYOUT, encoding="utf-8") as layout:
        return string.Template(layout.read()).substitute(
            title=cell(title), overview="\n".join(overview), sections="\n\n".join(sections))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", nargs="+", help="a data file, or a directory of data files")
    parser.add_argument("--title", default="Data of this project")
    parser.add_argument("--out", default=os.path.join("docs", "data-report.md"))
    args = parser.parse_args()
    text = report(args.title, files(args.path))
    try:
        os.makedirs(os.path.dirname(args.out) or ".", exist_ok=True)
        with open(args.out, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as e:
        raise Failure(FILE, f"{args.out}: {e.strerror}")
    print(text)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"report.py: {failure}", file=sys.stderr)
        sys.exit(failure.code)

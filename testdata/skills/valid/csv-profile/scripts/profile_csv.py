#!/usr/bin/env python3
"""Profiles a CSV file: prints a summary, writes profile.json and chart.svg.

Standard library only. Exit codes: 0 done, 2 wrong usage, 3 the file cannot be
read, 4 the file is no usable CSV, 5 the artifacts cannot be written.
"""

import argparse
import collections
import csv
import datetime
import io
import itertools
import json
import math
import os
import pathlib
import re
import statistics
import sys
from xml.sax.saxutils import escape

SKILL = pathlib.Path(__file__).resolve().parent.parent
WORKSPACE = pathlib.Path(os.environ.get("WORKSPACE") or ".")
SAMPLE = SKILL / "assets" / "measurements.csv"

STDIN = pathlib.Path("standard input")

MISSING = {"", "na", "n/a", "null", "none", "-"}
BOOLEANS = {"true", "false", "yes", "no"}
# Digits with a zero before them are a postal code or an id, not a number.
INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,98})")
NUMBER = re.compile(r"[+-]?(0|[1-9][0-9]*)?(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?(?<=[0-9])")
MAX_NUMBER = 1e100  # far from where sums and squares overflow
TOLERATED = 0.05  # share of cells that may not fit a column's type


class Failure(Exception):
    """An expected failure: an exit code and a message for the caller."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


# --- reading ---------------------------------------------------------------


def locate(name):
    """Finds the file where we stand, or in the workspace; - is standard input."""
    if name == "-":
        return STDIN
    for candidate in (pathlib.Path(name), WORKSPACE / name):
        if candidate.is_file():
            return candidate
    raise Failure(3, f"no file '{name}' here or in the workspace")


def detect_delimiter(text):
    """Tells the delimiter: the one that most regularly splits the first lines."""
    lines = [line for line in text.splitlines()[:20] if line.strip()]
    best, best_score = ",", 0.0
    for delimiter in ",;\t|":
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        if not widths or widths[0] < 2:
            continue
        score = widths.count(widths[0]) / len(widths) * math.log(widths[0] + 1)
        if score > best_score:
            best, best_score = delimiter, score
    return best


def column_names(header):
    """Gives every column a name of its own."""
    names, seen = [], collections.Counter()
    for index, cell in enumerate(header, start=1):
        name = cell.strip() or f"column {index}"
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return names


def open_text(path, encoding):
    """Opens the file as seekable text."""
    if path is not STDIN:
        return open(path, encoding=encoding, newline="")
    return io.TextIOWrapper(io.BytesIO(sys.stdin.buffer.read()), encoding=encoding, newline="")


def read_table(path, options):
    """Reads the file into names, columns of cells, and facts about the rows."""
    encoding = "utf-8-sig" if options.encoding.lower() in ("utf-8", "utf8") else options.encoding
    try:
        with open_text(path, encoding) as stream:
            head = stream.read(64 * 1024)
            if "\0" in head:
                raise Failure(4, f"'{path.name}' holds NUL characters: it is binary, or UTF-16 (try --encoding utf-16)")
            if not head.strip():
                raise Failure(4, f"'{path.name}' is empty")
            delimiter = options.delimiter or detect_delimiter(head)
            stream.seek(0)
            return delimiter, *collect(csv.reader(stream, delimiter=delimiter), options.max_rows)
    except UnicodeError as error:
        raise Failure(4, f"'{path.name}' is not {options.encoding} text; try --encoding latin-1") from error
    except csv.Error as error:
        raise Failure(4, f"'{path.name}' is not a CSV: {error}") from error
    except OSError as error:
        raise Failure(3, f"'{path.name}' cannot be read: {error.strerror}") from error


def collect(reader, max_rows):
    """Sorts the reader's rows into columns and counts the ragged ones."""
    header = next((row for row in reader if row), [])
    names = column_names(header)
    columns = [[] for _ in names]
    ragged, first_ragged, rows, truncated = 0, [], 0, False
    for row in reader:
        if not row:
            continue
        if rows == max_rows:
            truncated = True
            break
        rows += 1
        if len(row) != len(names):
            ragged += 1
            if len(first_ragged) < 5:
                first_ragged.append(reader.line_num)
        cells = itertools.chain(row, itertools.repeat(""))
        for column, cell in zip(columns, cells):
            column.append(cell.strip())
    if rows == 0:
        raise Failure(4, "there is a header, but no row below it")
    facts = {
        "rows": rows,
        "truncated": truncated,
        "ragged_rows": {"count": ragged, "first_lines": first_ragged},
    }
    return names, columns, facts


# --- profiling -------------------------------------------------------------


def as_boolean(cell):
    if cell.lower() not in BOOLEANS:
        raise ValueError(cell)
    return cell.lower() in ("true", "yes")


def as_integer(cell):
    if not INTEGER.fullmatch(cell):
        raise ValueError(cell)
    return int(cell)


def as_number(cell):
    if not NUMBER.fullmatch(cell) or abs(float(cell)) > MAX_NUMBER:
        raise ValueError(cell)
    return float(cell)


def as_date(cell):
    if len(cell) < 10 or cell[4] != "-":
        raise ValueError(cell)
    datetime.date.fromisoformat(cell[:10])
    if len(cell) > 10:
        datetime.datetime.fromisoformat(cell.replace("Z", "+00:00"))
    return cell


TYPES = [("boolean", as_boolean), ("integer", as_integer), ("number", as_number), ("date", as_date)]


def typed(cells):
    """Gives the type that fits, the values of that type, and the misfits."""
    if not cells:
        return "empty", [], 0
    for name, convert in TYPES:
        values, misfits = [], 0
        for cell in cells:
            try:
                values.append(convert(cell))
            except ValueError:
                misfits += 1
                if misfits > len(cells) * TOLERATED:
                    break
        else:
            return name, values, misfits
    return "text", cells, 0


def profile_column(name, cells):
    present = [cell for cell in cells if cell.lower() not in MISSING]
    kind, values, misfits = typed(present)
    counts = collections.Counter(present)
    profile = {
        "name": name,
        "type": kind,
        "missing": len(cells) - len(present),
        "distinct": len(counts),
        "unique": len(cells) == len(present) == len(counts),
        "outliers_of_type": misfits,
        "top": [{"value": value, "count": count} for value, count in counts.most_common(5)],
    }
    if kind in ("integer", "number"):
        profile.update(
            min=min(values),
            max=max(values),
            mean=round(statistics.fmean(values), 6),
            median=statistics.median(values),
            stdev=round(statistics.pstdev(map(float, values)), 6),
        )
    elif kind == "date":
        profile.update(min=min(values), max=max(values))
    elif kind == "text":
        profile.update(min_length=min(map(len, values)), max_length=max(map(len, values)))
    return profile, values


# --- the chart -------------------------------------------------------------


def bars_of(profile, values):
    """Gives the bars to draw as (label, count): bins, or the top values."""
    if profile["type"] not in ("integer", "number"):
        counts = collections.Counter(map(str, values)).most_common(12)
        return [(label, count) for label, count in counts]
    low, high = float(min(values)), float(max(values))
    if low == high:
        return [(f"{low:g}", len(values))]
    bins = max(2, min(12, math.ceil(math.sqrt(len(values)))))
    width = (high - low) / bins
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int((value - low) / (high - low) * bins))] += 1
    return [(f"{low + i * width:.4g} … {low + (i + 1) * width:.4g}", n) for i, n in enumerate(counts)]


def draw(title, bars):
    """Draws horizontal bars as a self-contained SVG."""
    left, bar_width, row = 190, 360, 26
    height = 60 + row * len(bars)
    most = max((count for _, count in bars), default=1)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + bar_width + 70}" height="{height}" '
        f'viewBox="0 0 {left + bar_width + 70} {height}" font-family="sans-serif" font-size="13">',
        f"<title>{clean(title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        f'<text x="16" y="28" font-size="16" font-weight="bold" fill="#1b2a33">{clean(title)}</text>',
    ]
    for index, (label, count) in enumerate(bars):
        y = 48 + row * index
        width = max(1, round(bar_width * count / most)) if count else 0
        parts += [
            f'<text x="{left - 10}" y="{y + 14}" text-anchor="end" fill="#33474f">{clean(shorten(label, 24))}</text>',
            f'<rect x="{left}" y="{y}" width="{width}" height="{row - 7}" rx="3" fill="#0b6e4f"/>',
            f'<text x="{left + width + 8}" y="{y + 14}" fill="#33474f">{count}</text>',
        ]
    return "\n".join([*parts, "</svg>"]) + "\n"


def shorten(text, length):
    return text if len(text) <= length else text[: length - 1] + "…"


def clean(text):
    """Escapes text for XML and drops characters that XML cannot hold."""
    return escape("".join(c for c in text if c.isprintable()))


# --- the command -----------------------------------------------------------


def summary(report, chart_of):
    """Gives the profile as Markdown."""
    lines = [f"# {report['file']}: {report['rows']} rows, {len(report['columns'])} columns", ""]
    if report["truncated"]:
        lines.append("Only the first rows were read (--max-rows).\n")
    ragged = report["ragged_rows"]
    if ragged["count"]:
        where = ", ".join(map(str, ragged["first_lines"]))
        lines.append(f"{ragged['count']} rows have another number of fields than the header; first at line {where}.\n")
    lines += ["| column | type | missing | distinct | range or most frequent |", "|---|---|---:|---:|---|"]
    for column in report["columns"]:
        if "mean" in column:
            detail = f"{column['min']:g} to {column['max']:g}, mean {column['mean']:g}"
        elif "min" in column:
            detail = f"{column['min']} to {column['max']}"
        else:
            detail = ", ".join(f"{shorten(t['value'], 20)} ({t['count']})" for t in column["top"][:3])
        cells = [column["name"], column["type"], str(column["missing"]), str(column["distinct"]), detail]
        lines.append("| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
    lines += ["", f"Artifacts: profile.json, chart.svg (column '{chart_of}')"]
    return "\n".join(lines)


def choose(profiles, wanted):
    """Gives the index of the column to draw."""
    names = [profile["name"] for profile in profiles]
    if wanted is None:
        kinds = [profile["type"] for profile in profiles]
        return next((i for i, kind in enumerate(kinds) if kind in ("integer", "number")), 0)
    if wanted not in names:
        raise Failure(4, f"no column '{wanted}'; there are: {', '.join(names)}")
    return names.index(wanted)


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="profile_csv.py", description="Profiles a CSV file.", allow_abbrev=False)
    parser.add_argument("file", nargs="?", metavar="FILE", help="the CSV, here or in the workspace; - for standard input")
    parser.add_argument("--sample", action="store_true", help="profile this skill's sample")
    parser.add_argument("--chart", metavar="COLUMN", help="which column to draw")
    parser.add_argument("--delimiter", metavar="CHAR", help="the separator, or 'tab'")
    parser.add_argument("--encoding", default="utf-8", metavar="NAME")
    parser.add_argument("--out", metavar="DIR", help="where the artifacts go (the workspace)")
    parser.add_argument("--max-rows", type=int, default=1_000_000, metavar="N")
    options = parser.parse_args(arguments)
    if bool(options.file) == options.sample:
        parser.error("give either a FILE or --sample")
    if options.delimiter == "tab":
        options.delimiter = "\t"
    if options.delimiter is not None and (len(options.delimiter) != 1 or options.delimiter in '"\r\n'):
        parser.error("--delimiter wants one character, or 'tab'")
    if options.max_rows < 1:
        parser.error("--max-rows wants at least 1")
    try:
        "".encode(options.encoding)
    except LookupError:
        parser.error(f"--encoding: '{options.encoding}' is unknown")
    return options


def run(options):
    path = SAMPLE if options.sample else locate(options.file)
    delimiter, names, columns, facts = read_table(path, options)
    profiled = [profile_column(name, cells) for name, cells in zip(names, columns)]
    report = {"file": path.name, "delimiter": delimiter, "encoding": options.encoding, **facts}
    report["columns"] = [profile for profile, _ in profiled]
    chosen = choose(report["columns"], options.chart)
    profile, values = profiled[chosen]
    chart = draw(f"{profile['name']} ({path.name})", bars_of(profile, values))
    out = pathlib.Path(options.out) if options.out else WORKSPACE
    try:
        out.mkdir(parents=True, exist_ok=True)
        (out / "profile.json").write_text(json.dumps(report, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
        (out / "chart.svg").write_text(chart, encoding="utf-8")
    except OSError as error:
        raise Failure(5, f"cannot write the artifacts: {error.strerror}") from error
    print(summary(report, profile["name"]))


def main():
    sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    csv.field_size_limit(16 << 20)
    try:
        run(parse_arguments(sys.argv[1:]))
    except Failure as failure:
        print(f"profile_csv.py: {failure}", file=sys.stderr)
        return failure.code
    return 0


if __name__ == "__main__":
    sys.exit(main())

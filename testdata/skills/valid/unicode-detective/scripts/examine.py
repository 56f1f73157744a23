#!/usr/bin/env python3
"""Examines text for characters that mislead the eye.

Standard library only. Exit codes: 0 nothing found, 1 something was found,
2 wrong usage, 3 the file cannot be read, 4 it is not UTF-8.
"""

import argparse
import json
import os
import pathlib
import re
import sys
import unicodedata

SKILL = pathlib.Path(__file__).resolve().parent.parent
WORKSPACE = pathlib.Path(os.environ.get("WORKSPACE") or ".")
MAX_LISTED = 200

BIDI = set("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
JOINERS = set("\u200c\u200d")
# Without a shape, though their category is not always Cf.
SHAPELESS = set("\u00ad\u034f\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060\u2061\u2062\u2063\u2064\u3164\ufeff\uffa0")
# Letters of these are taken for one another.
CONFUSABLE = {"LATIN", "GREEK", "CYRILLIC", "ARMENIAN", "CHEROKEE"}
MOJIBAKE = re.compile("[\u00c2-\u00f4][\u0080-\u00bf]{1,3}")


class Failure(Exception):
    """An expected failure: an exit code and a message for the caller."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def name_of(char):
    return unicodedata.name(char, f"no name, category {unicodedata.category(char)}")


def script_of(char):
    """Gives the first word of a letter's name, which is its script."""
    return name_of(char).split(" ")[0] if unicodedata.category(char).startswith("L") else ""


def joins(text, index):
    """Tells whether a joiner does its work: in emoji, or in a script that needs it."""
    before = next((c for c in reversed(text[max(0, index - 16) : index]) if not unicodedata.combining(c) and c != "\ufe0f"), "")
    after = text[index + 1 : index + 2]

    def takes_joiners(char):
        return unicodedata.category(char) == "So" or (
            unicodedata.category(char)[0] in "LM" and script_of(char) not in {"", "CJK", *CONFUSABLE}
        )

    return bool(before and after) and takes_joiners(before) and takes_joiners(after)


def kind_of(text, index):
    """Gives the finding that one character is, or nothing."""
    char = text[index]
    category = unicodedata.category(char)
    if char in BIDI:
        return "bidi"
    if char in JOINERS:
        return None if joins(text, index) else "invisible"
    if char in SHAPELESS or category == "Cf":
        return "invisible"
    if category == "Cc":
        return None if char in "\t\r" else "control"
    if category == "Co":
        return "private-use"
    if category == "Cn":
        return "unassigned"
    if category in ("Zs", "Zl", "Zp") and char != " ":
        return "odd-space"
    if category[0] in "LN" and unicodedata.decomposition(char).startswith("<"):
        return "compatibility"
    return None


def mojibake(text):
    """Finds runs that are UTF-8 when taken as Latin-1, as (column, what it was)."""
    for match in MOJIBAKE.finditer(text):
        try:
            yield match.start(), match.group().encode("latin-1").decode("utf-8")
        except UnicodeDecodeError:
            continue


def examine_line(line):
    """Gives the findings of one line as (column, kind, detail)."""
    damaged = {}
    for start, meant in mojibake(line):
        damaged[start] = meant
        yield start, "mojibake", f"{line[start : start + len(meant.encode())]!r} is probably {meant!r}"
    covered = {start + i for start, meant in damaged.items() for i in range(len(meant.encode()))}
    for index, char in enumerate(line):
        kind = None if index in covered else kind_of(line, index)
        if kind:
            yield index, kind, f"U+{ord(char):04X} {name_of(char)}"
    for match in re.finditer(r"\w+", line):
        scripts = {script_of(c): c for c in reversed(match.group())}
        mixed = [script for script in scripts if script in CONFUSABLE]
        if len(mixed) > 1:
            letters = ", ".join(f"U+{ord(scripts[s]):04X} {name_of(scripts[s])}" for s in sorted(mixed))
            yield match.start(), "mixed-script", f"{match.group()!r} mixes {letters}"
    for match in re.finditer(r"\S+", line):
        if not unicodedata.is_normalized("NFC", match.group()):
            yield match.start(), "normal-form", f"{match.group()!r} changes under normal form C"


def examine(text):
    findings = []
    for number, line in enumerate(text.split("\n"), start=1):
        for column, kind, detail in sorted(examine_line(line)):
            findings.append({"line": number, "column": column + 1, "kind": kind, "detail": detail})
    return findings


def clean(text):
    """Drops what cannot be seen and gives normal form C."""
    dropped = {"bidi", "invisible", "control"}
    kept = (c for i, c in enumerate(text) if c == "\n" or kind_of(text, i) not in dropped)
    return unicodedata.normalize("NFC", "".join(kept))


def read(options):
    if options.text is not None:
        try:
            return os.fsencode(options.text).decode("utf-8")
        except UnicodeDecodeError as error:
            raise Failure(4, f"the text is not UTF-8: bad byte at offset {error.start}") from None
    if options.file == "-":
        data = sys.stdin.buffer.read()
    else:
        places = [pathlib.Path(options.file), WORKSPACE / options.file, SKILL / options.file]
        path = next((p for p in places if p.is_file()), None)
        if path is None:
            raise Failure(3, f"no file '{options.file}' here, in the workspace or in the skill")
        try:
            data = path.read_bytes()
        except OSError as error:
            raise Failure(3, f"'{options.file}' cannot be read: {error.strerror}") from None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Failure(4, f"not UTF-8: bad byte 0x{data[error.start]:02x} at offset {error.start}") from None


def show(findings):
    for finding in findings[:MAX_LISTED]:
        print("{line}:{column}  {kind:<13} {detail}".format(**finding))
    if len(findings) > MAX_LISTED:
        print(f"… and {len(findings) - MAX_LISTED} more")
    kinds = sorted({finding["kind"] for finding in findings})
    number = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    print(f"{number}: {', '.join(kinds)}" if findings else "nothing found")


def parse_arguments(arguments):
    parser = argparse.ArgumentParser(prog="examine.py", description="Examines text.", allow_abbrev=False)
    parser.add_argument("file", nargs="?", metavar="FILE", help="a file, or - for standard input")
    parser.add_argument("--text", help="the text itself")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--json", action="store_true", help="print the findings as JSON")
    output.add_argument("--clean", action="store_true", help="print the text without invisible characters")
    options = parser.parse_args(arguments)
    if (options.file is None) == (options.text is None):
        parser.error("give either a FILE (or -) or --text")
    return options


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    options = parse_arguments(sys.argv[1:])
    try:
        text = read(options)
    except Failure as failure:
        print(f"examine.py: {failure}", file=sys.stderr)
        return failure.code
    findings = examine(text)
    if options.clean:
        sys.stdout.write(clean(text))
    elif options.json:
        print(json.dumps({"findings": findings}, ensure_ascii=False, indent=2))
    else:
        show(findings)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Converts values between units; answers in JSON on standard output.

usage: convert.py convert --value X --from UNIT --to UNIT [--digits N]
       convert.py list --input stdin
       convert.py units --kind KIND

With "--input stdin" the options that are not given as arguments are read from
a JSON object on standard input. "list" takes "values" from there and writes
converted.csv into the workspace.

Exit codes: 0 done, 2 wrong usage or input, 3 unknown unit, 4 units of different
kinds or a result out of range, 5 the list cannot be written.
"""

import json
import os
import pathlib
import sys
from decimal import Context, Decimal, InvalidOperation, localcontext

WORKSPACE = pathlib.Path(os.environ.get("WORKSPACE") or ".")

FACTORS = {
    "length": {
        "nm": "1e-9", "µm": "1e-6", "mm": "0.001", "cm": "0.01", "m": "1", "km": "1000",
        "in": "0.0254", "ft": "0.3048", "yd": "0.9144", "mi": "1609.344", "nmi": "1852",
    },
    "mass": {
        "mg": "1e-6", "g": "0.001", "kg": "1", "t": "1000",
        "oz": "0.028349523125", "lb": "0.45359237", "st": "6.35029318",
    },
    "volume": {
        "ml": "0.001", "cl": "0.01", "l": "1", "m3": "1000",
        "tsp": "0.00492892159375", "tbsp": "0.01478676478125", "cup": "0.2365882365",
        "pint": "0.473176473", "gal": "3.785411784", "pint-uk": "0.56826125", "gal-uk": "4.54609",
    },
    "area": {
        "cm2": "0.0001", "m2": "1", "ha": "10000", "km2": "1000000",
        "ft2": "0.09290304", "ac": "4046.8564224",
    },
    "energy": {
        "J": "1", "kJ": "1000", "MJ": "1000000", "cal": "4.184", "kcal": "4184",
        "Wh": "3600", "kWh": "3600000", "BTU": "1055.05585262",
    },
    "data": {
        "bit": "0.125", "B": "1", "kB": "1000", "MB": "1e6", "GB": "1e9", "TB": "1e12",
        "KiB": str(2**10), "MiB": str(2**20), "GiB": str(2**30), "TiB": str(2**40),
    },
    "duration": {
        "ms": "0.001", "s": "1", "min": "60", "h": "3600", "d": "86400", "week": "604800",
    },
}
# Some factors have no end in decimal: a numerator and a denominator.
FRACTIONS = {
    "speed": {
        "m/s": ("1", "1"), "km/h": ("1", "3.6"), "mph": ("0.44704", "1"),
        "kn": ("1852", "3600"), "ft/s": ("0.3048", "1"),
    },
}
# Kelvin = (value + offset) * numerator / denominator.
SCALES = {"K": ("0", 1, 1), "°C": ("273.15", 1, 1), "°F": ("459.67", 5, 9)}
ALIASES = {"C": "°C", "F": "°F", "um": "µm", "μm": "µm", "m²": "m2", "m³": "m3", "km²": "km2", "cm²": "cm2", "L": "l"}


class Failure(Exception):
    """An expected failure: an exit code and a message for the caller."""

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def units():
    """Gives every unit as name -> (kind, offset, numerator, denominator)."""
    table = {}
    for kind, factors in FACTORS.items():
        for name, factor in factors.items():
            table[name] = (kind, Decimal(0), Decimal(factor), Decimal(1))
    for kind, fractions in FRACTIONS.items():
        for name, (numerator, denominator) in fractions.items():
            table[name] = (kind, Decimal(0), Decimal(numerator), Decimal(denominator))
    for name, (offset, numerator, denominator) in SCALES.items():
        table[name] = ("temperature", Decimal(offset), Decimal(numerator), Decimal(denominator))
    return table


UNITS = units()


def unit(name):
    """Finds a unit; letter case matters, but a near miss is named."""
    name = ALIASES.get(name, name)
    if name in UNITS:
        return UNITS[name]
    near = [known for known in UNITS if known.casefold() == name.casefold()]
    hint = f"did you mean {' or '.join(near)}?" if near else "list_units (units --kind all) names them"
    raise Failure(3, f"unknown unit '{name}'; {hint}")


def convert(value, source, target, digits):
    """Converts one value and rounds it to significant digits."""
    kind, offset, numerator, denominator = unit(source)
    target_kind, target_offset, target_numerator, target_denominator = unit(target)
    if kind != target_kind:
        raise Failure(4, f"'{source}' measures {kind}, '{target}' measures {target_kind}")
    base = (value + offset) * numerator / denominator
    if kind == "temperature" and base < 0:
        raise Failure(4, f"{value} {source} is below absolute zero")
    result = base * target_denominator / target_numerator - target_offset
    return Context(prec=digits).plus(result)


def decimal(text):
    """Reads a number of a size at which rounding is still exact."""
    if isinstance(text, bool) or not isinstance(text, (str, int, Decimal)):
        raise Failure(2, f"a value must be a number, not {json.dumps(text, ensure_ascii=False)}")
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise Failure(2, f"'{text}' is not a number") from None
    if not value.is_finite() or len(value.as_tuple().digits) > 40 or not -60 <= value.adjusted() <= 60:
        raise Failure(2, f"'{shorten(str(text))}' is out of range")
    return value


def shorten(text):
    return text if len(text) <= 40 else text[:37] + "..."


def plain(value):
    """Gives a Decimal as the JSON number a reader expects."""
    number = int(value) if value == value.to_integral_value() and value.adjusted() < 15 else float(value)
    return number or 0  # no -0


# --- the command -----------------------------------------------------------


def significant(digits):
    try:
        number = int(str(digits))
    except ValueError:
        number = 0
    if not 1 <= number <= 15:
        raise Failure(2, f"digits wants a number from 1 to 15, not '{digits}'")
    return number


def run_convert(options):
    value = decimal(options["value"])
    result = convert(value, options["from"], options["to"], significant(options.get("digits", 6)))
    return {"value": plain(value), "from": options["from"], "to": options["to"], "result": plain(result)}


def run_list(options):
    values = options["values"]
    if not isinstance(values, list) or not 1 <= len(values) <= 10_000:
        raise Failure(2, "values wants a list of 1 to 10000 numbers")
    digits = significant(options.get("digits", 6))
    pairs = [(v, convert(v, options["from"], options["to"], digits)) for v in map(decimal, values)]
    lines = [f"{options['from']},{options['to']}", *(f"{plain(a)},{plain(b)}" for a, b in pairs)]
    try:
        (WORKSPACE / "converted.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise Failure(5, f"cannot write converted.csv: {error.strerror}") from error
    results = [plain(b) for _, b in pairs]
    return {"from": options["from"], "to": options["to"], "results": results, "file": "converted.csv"}


def run_units(options):
    kinds = sorted({kind for kind, *_ in UNITS.values()})
    if options["kind"] not in ("all", *kinds):
        raise Failure(2, f"no kind '{options['kind']}'; there are: all, {', '.join(kinds)}")
    wanted = kinds if options["kind"] == "all" else [options["kind"]]
    return {kind: [name for name, (k, *_) in UNITS.items() if k == kind] for kind in wanted}


# Each command: what it does, the options it knows, those it must have.
COMMANDS = {
    "convert": (run_convert, {"value", "from", "to", "digits"}, {"value", "from", "to"}),
    "list": (run_list, {"values", "from", "to", "digits"}, {"values", "from", "to"}),
    "units": (run_units, {"kind"}, {"kind"}),
}


def parse(arguments):
    """Gives the command and its options; a value may begin with a minus."""
    if not arguments or arguments[0] not in COMMANDS:
        raise Failure(2, f"the first argument is one of: {', '.join(COMMANDS)}\n\n{__doc__.strip()}")
    run, known, needed = COMMANDS[arguments[0]]
    given = {}
    rest = arguments[1:]
    while rest:
        option, rest = rest[0], rest[1:]
        name = option.removeprefix("--")
        if option == name or name not in known | {"input"}:
            raise Failure(2, f"unknown argument '{option}'")
        if not rest:
            raise Failure(2, f"{option} needs a value")
        given[name], rest = rest[0], rest[1:]
    source = given.pop("input", None)
    if source not in (None, "stdin"):
        raise Failure(2, "--input takes only 'stdin'")
    options = {**(from_stdin() if source else {}), **given}
    for name in sorted(needed):
        if name not in options:
            raise Failure(2, f"'{name}' is missing")
    for name in ("from", "to", "kind"):
        if not isinstance(options.get(name, ""), str):
            raise Failure(2, f"'{name}' wants a text")
    return run, options


def from_stdin():
    try:
        options = json.loads(sys.stdin.buffer.read().decode("utf-8"), parse_float=Decimal)
    except (ValueError, RecursionError) as error:
        raise Failure(2, f"standard input is no JSON: {error}") from None
    if not isinstance(options, dict):
        raise Failure(2, "standard input must be a JSON object")
    return options


def main():
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="replace")
    try:
        with localcontext(Context(prec=120)):
            run, options = parse(sys.argv[1:])
            answer = run(options)
    except Failure as failure:
        print(f"convert.py: {failure}", file=sys.stderr)
        return failure.code
    print(json.dumps(answer, ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())

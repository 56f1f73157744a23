#!/usr/bin/env python3
"""Lists and fills the fields of a PDF form.

A filled form is its source with an update at the end, as the PDF specification
describes it ("incremental updates"): whatever the source holds stays as it is.
"""
import argparse
import json
import os
import re
import sys

USAGE, FILE, FORM, VALUE = 2, 3, 4, 5

TOKEN = re.compile(
    rb"(?P<space>[\0\t\n\f\r ]+|%[^\r\n]*)"
    rb"|(?P<open><<|\[)|(?P<close>>>|\])"
    rb"|(?P<hex><[0-9A-Fa-f\0\t\n\f\r ]*>)"
    rb"|(?P<name>/[^\0\t\n\f\r ()<>\[\]{}/%]*)"
    rb"|(?P<ref>\d+[\0\t\n\f\r ]+\d+[\0\t\n\f\r ]+R(?![A-Za-z]))"
    rb"|(?P<number>[+-]?(?:\d+\.?\d*|\.\d+))"
    rb"|(?P<word>[A-Za-z]+)")
TEXT, CHECKBOX, CHOICE = "text", "checkbox", "choice"
RADIO, PUSH = 1 << 15, 1 << 16  # flags of buttons


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class Name(str):
    """A name, without its slash."""


class Ref(tuple):
    """A reference: the number of an object, and its generation."""


class Word(str):
    """true, false, null, and what closes a collection."""


class Pdf:
    """A PDF file with tables of cross-references."""

    def __init__(self, data):
        self.data = data
        self.offsets = {}
        self.trailer = {}
        if not data.startswith(b"%PDF-"):
            raise Failure(FORM, "this is no PDF file")
        last = re.findall(rb"startxref\s+(\d+)", data[-2048:])
        if not last:
            raise Failure(FORM, "the file ends without startxref: it is cut short")
        self.start = int(last[-1])
        seen, at = set(), self.start
        while at is not None and at not in seen:
            seen.add(at)
            at = self.read_table(at)
        if "Encrypt" in self.trailer:
            raise Failure(FORM, "the file is encrypted")

    def read_table(self, at):
        """Reads a table of cross-references; gives where the one before it is."""
        begin = re.compile(rb"\s*xref\s+").match(self.data, at)
        if not begin:
            raise Failure(FORM, "the file has compressed cross-references")
        at = begin.end()
        section = re.compile(rb"(\d+) +(\d+)\s+")
        entry = re.compile(rb"(\d{10}) (\d{5}) ([nf])\s*")
        while found := section.match(self.data, at):
            first, count, at = int(found[1]), int(found[2]), found.end()
            for number in range(first, first + count):
                line = entry.match(self.data, at)
                if not line:
                    raise Failure(FORM, "a table of cross-references is damaged")
                at = line.end()
                if line[3] == b"n":
                    self.offsets.setdefault(number, int(line[1]))
        word, at = self.value(at)
        trailer, _ = self.value(at)
        if word != "trailer" or not isinstance(trailer, dict):
            raise Failure(FORM, "a table of cross-references has no trailer")
        self.trailer = {**trailer, **self.trailer}
        return trailer.get("Prev")

    def get(self, value):
        """Follows references."""
        for _ in range(32):
            if not isinstance(value, Ref):
                return value
            if value[0] not in self.offsets:
                return None
            head = re.compile(rb"\s*(\d+)\s+(\d+)\s+obj\b").match(self.data, self.offsets[value[0]])
            if not head or int(head[1]) != value[0]:
                raise Failure(FORM, f"object {value[0]} is not where the file says")
            value, _ = self.value(head.end())
        raise Failure(FORM, "references lead in a circle")

    def value(self, at, depth=0):
        """Reads the value at an offset; gives it, and the offset behind it."""
        if depth > 64:
            raise Failure(FORM, "the file is nested too deeply")
        if self.data[at:at + 1] == b"(":
            return self.string(at)
        token = TOKEN.match(self.data, at)
        if not token:
            raise Failure(FORM, f"the file is damaged at byte {at}")
        kind, text, at = token.lastgroup, token[0], token.end()
        if kind == "space":
            return self.value(at, depth)
        if kind == "open":
            return self.collection(text, at, depth)
        if kind == "hex":
            digits = re.sub(rb"[^0-9A-Fa-f]", b"", text)
            return bytes.fromhex((digits + b"0" * (len(digits) % 2)).decode()), at
        if kind == "name":
            plain = re.sub(rb"#([0-9A-Fa-f]{2})", lambda m: bytes.fromhex(m[1].decode()), text[1:])
            return Name(plain.decode("latin-1")), at
        if kind == "ref":
            number, generation = text.split()[:2]
            return Ref((int(number), int(generation))), at
        if kind == "number":
            return (float(text) if b"." in text else int(text)), at
        return Word(text.decode()), at

    def collection(self, opened, at, depth):
        values = []
        while True:
            value, at = self.value(at, depth + 1)
            if value in (">>", "]") and isinstance(value, Word):
                break
            values.append(value)
        if opened == b"[":
            return values, at
        return dict(zip(values[::2], values[1::2])), at

    def string(self, at):
        """Reads a string in parentheses, which may hold parentheses."""
        out, depth, at = bytearray(), 1, at + 1
        escapes = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"b": b"\b", b"f": b"\f", b"\n": b""}
        while at < len(self.data):
            char = self.data[at:at + 1]
            if char == b"\\":
                octal = re.compile(rb"[0-7]{1,3}").match(self.data, at + 1)
                if octal:
                    out.append(int(octal[0], 8) & 255)
                    at = octal.end()
                else:
                    escaped = self.data[at + 1:at + 2]
                    out += escapes.get(escaped, escaped)
                    at += 2
                continue
            depth += (char == b"(") - (char == b")")
            at += 1
            if depth == 0:
                return bytes(out), at
            out += char
        raise Failure(FORM, "a string does not end")


def written(value):
    """A value as PDF writes it."""
    if isinstance(value, Ref):
        return b"%d %d R" % value
    if isinstance(value, Name):
        return b"/" + re.sub(rb"[^!-~]|[#()<>\[\]{}/%]", lambda m: b"#%02x" % m[0][0], value.encode("latin-1"))
    if isinstance(value, Word):
        return value.encode()
    if isinstance(value, bytes):
        return b"<" + value.hex().encode() + b">"
    if isinstance(value, list):
        return b"[" + b" ".join(map(written, value)) + b"]"
    if isinstance(value, dict):
        return b"<<" + b" ".join(written(Name(k)) + b" " + written(v) for k, v in value.items()) + b">>"
    return str(value).encode()


def decoded(value):
    """The text of a string."""
    if not isinstance(value, bytes):
        return "" if value is None else str(value)
    if value.startswith(b"\xfe\xff"):
        return value[2:].decode("utf-16-be", "replace")
    return value.decode("latin-1")


def encoded(text):
    """A string that holds the text."""
    if text.isascii():
        return text.encode()
    return b"\xfe\xff" + text.encode("utf-16-be")


class Field:
    """One field of a form, which has one or more places on pages."""

    def __init__(self, pdf, ref, name, dictionary):
        self.pdf, self.ref, self.name, self.dictionary = pdf, ref, name, dictionary
        flags = pdf.get(dictionary.get("Ff")) or 0
        kind = pdf.get(dictionary.get("FT"))
        self.kind = {"Tx": TEXT, "Ch": CHOICE}.get(kind)
        if kind == "Btn" and not flags & (RADIO | PUSH):
            self.kind = CHECKBOX
        self.required = bool(flags & 2)
        self.options = []
        for option in pdf.get(dictionary.get("Opt")) or []:
            option = pdf.get(option)
            self.options.append(decoded(option[0] if isinstance(option, list) else option))

    def value(self):
        value = self.pdf.get(self.dictionary.get("V"))
        if self.kind == CHECKBOX:
            return "no" if value in (None, "Off") else "yes"
        return decoded(value)

    def on(self):
        """The name of the state in which a checkbox is ticked."""
        normal = self.pdf.get((self.pdf.get(self.dictionary.get("AP")) or {}).get("N"))
        states = [state for state in normal or {} if state != "Off"]
        return Name(states[0] if states else "Yes")

    def filled(self, text):
        """The field's dictionary with another value."""
        changed = dict(self.dictionary)
        if self.kind == CHECKBOX:
            if text.lower() not in ("yes", "no"):
                raise Failure(VALUE, f"the checkbox {self.name!r} takes yes or no, not {text!r}")
            changed["V"] = changed["AS"] = self.on() if text.lower() == "yes" else Name("Off")
            return changed
        if self.kind == CHOICE and self.options and text not in self.options:
            raise Failure(VALUE, f"{self.name!r} takes one of {', '.join(self.options)}, not {text!r}")
        if self.kind is None:
            raise Failure(VALUE, f"{self.name!r} is a button or a signature, which this script does not fill")
        changed["V"] = encoded(text)
        changed.pop("AP", None)  # drawn anew by the viewer
        return changed


def form_of(pdf):
    """The form, and the reference to it where it is an object of its own."""
    root = pdf.get(pdf.trailer.get("Root")) or {}
    form = pdf.get(root.get("AcroForm"))
    if not isinstance(form, dict) or not pdf.get(form.get("Fields")):
        raise Failure(FORM, "the file has no form to fill")
    return root, form


def fields(pdf):
    """All fields by their full names, in the form's order."""
    _, form = form_of(pdf)
    found, seen = {}, set()

    def visit(ref, above, inherited):
        if not isinstance(ref, Ref) or ref in seen:
            return
        seen.add(ref)
        own = pdf.get(ref)
        if not isinstance(own, dict):
            return
        name = ".".join(part for part in (above, decoded(pdf.get(own.get("T")))) if part)
        passed = {k: own.get(k, inherited.get(k)) for k in ("FT", "Ff", "Opt") if k in own or k in inherited}
        kids = [kid for kid in pdf.get(own.get("Kids")) or [] if "T" in (pdf.get(kid) or {})]
        for kid in kids:
            visit(kid, name, passed)
        if not kids and name:
            found[name] = Field(pdf, ref, name, {**passed, **own})

    for ref in pdf.get(form["Fields"]):
        visit(ref, "", {})
    return found


def update(pdf, objects):
    """The file with objects replaced, by reference."""
    out, offsets = bytearray(pdf.data), {}
    if not out.endswith(b"\n"):
        out += b"\n"
    for ref, value in sorted(objects.items()):
        offsets[ref] = len(out)
        out += b"%d %d obj\n%s\nendobj\n" % (ref[0], ref[1], written(value))
    start = len(out)
    out += b"xref\n0 1\n0000000000 65535 f \n"
    for ref, offset in sorted(offsets.items()):
        out += b"%d 1\n%010d %05d n \n" % (ref[0], offset, ref[1])
    trailer = {k: v for k, v in pdf.trailer.items() if k in ("Size", "Root", "Info", "ID")}
    trailer["Prev"] = pdf.start
    return bytes(out + b"trailer\n%s\nstartxref\n%d\n%%%%EOF\n" % (written(trailer), start))


def fill(pdf, values):
    known = fields(pdf)
    unknown = [name for name in values if name not in known]
    if unknown:
        raise Failure(VALUE, f"there is no field {unknown[0]!r}; there are {', '.join(known)}")
    objects = {known[name].ref: known[name].filled(text) for name, text in values.items()}
    root, form = form_of(pdf)
    form = {**form, "NeedAppearances": Word("true")}
    if isinstance(root["AcroForm"], Ref):
        objects[root["AcroForm"]] = form
    else:
        objects[pdf.trailer["Root"]] = {**root, "AcroForm": form}
    return update(pdf, objects)


def read(file):
    try:
        with open(file, "rb") as opened:
            return opened.read()
    except OSError as e:
        raise Failure(FILE, f"{file}: {e.strerror}")


def show(pdf):
    print("| field | kind | value | takes |\n|---|---|---|---|")
    for field in fields(pdf).values():
        takes = ", ".join(field.options) or {TEXT: "text", CHECKBOX: "yes, no"}.get(field.kind, "")
        required = ", required" if field.required else ""
        print(f"| {field.name} | {field.kind or 'other'} | {field.value()} | {takes}{required} |")


def given(args):
    """The values to fill in, by field."""
    values = {}
    if args.values:
        try:
            values = json.loads(read(args.values))
        except ValueError as e:
            raise Failure(USAGE, f"{args.values} is no JSON: {e}")
        if not isinstance(values, dict) or not all(isinstance(v, str) for v in values.values()):
            raise Failure(USAGE, f"{args.values} is no JSON object of strings")
    for pair in args.value:
        name, equals, text = pair.partition("=")
        if not equals:
            raise Failure(USAGE, f"{pair!r} is not NAME=VALUE")
        values[name] = text
    if not values:
        raise Failure(USAGE, "there is nothing to fill in: give NAME=VALUE")
    return values


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("fields", help="list the fields").add_argument("form")
    filling = commands.add_parser("fill", help="fill fields and save the form beside its source")
    filling.add_argument("form")
    filling.add_argument("value", nargs="*", metavar="NAME=VALUE")
    filling.add_argument("--values", metavar="FILE")
    filling.add_argument("--out", metavar="FILE")
    filling.add_argument("--force", action="store_true")
    args, more = parser.parse_known_args()
    for each in more:  # values may stand behind an option, too
        if args.command != "fill" or each.startswith("-"):
            parser.error(f"unknown argument {each}")
        args.value.append(each)

    pdf = Pdf(read(args.form))
    if args.command == "fields":
        show(pdf)
        return
    out = args.out or os.path.splitext(args.form)[0] + "-filled.pdf"
    filled = fill(pdf, given(args))
    try:
        with open(out, "wb" if args.force else "xb") as file:
            file.write(filled)
    except FileExistsError:
        raise Failure(FILE, f"{out} is there already; --force replaces it")
    except OSError as e:
        raise Failure(FILE, f"{out}: {e.strerror}")
    show(Pdf(filled))
    print(f"\nsaved as {out}")


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"fill_form.py: {failure}", file=sys.stderr)
        sys.exit(failure.code)

#!/usr/bin/env python3
"""Shows and changes cells of an Excel workbook."""
import argparse
import io
import os
import posixpath
import re
import sys
import tempfile
import zipfile
from xml.dom import minidom
from xml.parsers.expat import ExpatError

USAGE, FILE, FORM, CELL = 2, 3, 4, 5
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATION = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MOST_BYTES = 256 << 20  # of one part, unpacked
REFERENCE = re.compile(r"([A-Z]{1,3})([1-9][0-9]{0,6})")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class Failure(Exception):
    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


def children(node, name):
    return [child for child in node.childNodes if child.localName == name]


def child(node, name):
    return next(iter(children(node, name)), None)


def text(node):
    """All text below a node, but for how it is pronounced."""
    if node is None:
        return ""
    if node.nodeType == node.TEXT_NODE:
        return node.data
    return "".join(text(below) for below in node.childNodes if below.localName != "rPh")


def column(letters):
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - 64
    return number


def position(reference):
    found = REFERENCE.fullmatch(reference.upper())
    if not found or column(found[1]) > 16384 or int(found[2]) > 1048576:
        raise Failure(CELL, f"{reference!r} is no cell: cells are called like B2")
    return int(found[2]), column(found[1])


class Book:
    """A workbook: an archive of parts, of which only those that change are written anew."""

    def __init__(self, file):
        self.file, self.changed = file, {}
        try:
            with open(file, "rb") as opened:
                self.archive = zipfile.ZipFile(io.BytesIO(opened.read()))
        except OSError as e:
            raise Failure(FILE, f"{file}: {e.strerror}")
        except zipfile.BadZipFile:
            raise Failure(FORM, f"{file} is no .xlsx workbook")
        self.workbook = self.part("xl/workbook.xml")
        targets = {r.getAttribute("Id"): r.getAttribute("Target")
                   for r in children(self.part("xl/_rels/workbook.xml.rels").documentElement, "Relationship")}
        self.sheets = {}
        for sheet in children(child(self.workbook.documentElement, "sheets"), "sheet"):
            target = targets.get(sheet.getAttributeNS(RELATION, "id"), "")
            self.sheets[sheet.getAttribute("name")] = posixpath.normpath(posixpath.join("/xl", target)).lstrip("/")
        self.shared = []
        if "xl/sharedStrings.xml" in self.archive.namelist():
            self.shared = [text(si) for si in children(self.part("xl/sharedStrings.xml").documentElement, "si")]

    def part(self, name):
        if name in self.changed:
            return self.changed[name]
        try:
            if self.archive.getinfo(name).file_size > MOST_BYTES:
                raise Failure(FORM, f"{name} in {self.file} is too large")
            packed = self.archive.read(name)
            if b"<!DOCTYPE" in packed:
                raise Failure(FORM, f"{name} in {self.file} declares a document type, which no workbook does")
            return minidom.parseString(packed)
        except KeyError:
            raise Failure(FORM, f"{self.file} is no workbook: it has no {name}")
        except (ExpatError, zipfile.BadZipFile, RuntimeError) as e:
            raise Failure(FORM, f"{name} in {self.file} cannot be read: {e}")

    def sheet(self, name):
        if name is None:
            name = next(iter(self.sheets), None)
        if name not in self.sheets:
            raise Failure(CELL, f"there is no sheet {name!r}; there are {', '.join(self.sheets)}")
        return name, self.part(self.sheets[name])

    def shown(self, cell):
        """What a cell holds, as a user would type it."""
        if cell is None:
            return ""
        kind, value = cell.getAttribute("t"), text(child(cell, "v"))
        if (formula := child(cell, "f")) is not None:
            return "=" + text(formula) + (f" ({value})" if value else "")
        if kind == "s":
            return self.shared[int(value)] if value.isdigit() and int(value) < len(self.shared) else ""
        if kind == "inlineStr":
            return text(child(cell, "is"))
        return {"b": {"1": "TRUE", "0": "FALSE"}.get(value, value)}.get(kind, value)

    def set(self, sheet_name, reference, value, formulas):
        """Changes one cell; gives what it held before."""
        row_number, column_number = position(reference)
        name, document = self.sheet(sheet_name)
        data = child(document.documentElement, "sheetData")
        row = placed(document, data, "row", str(row_number), lambda r: int(r.getAttribute("r") or 0), row_number)
        cell = placed(document, row, "c", reference.upper(), lambda c: position(c.getAttribute("r"))[1], column_number)
        before = self.shown(cell)
        if before.startswith("=") and child(cell, "f") is not None and not formulas:
            raise Failure(CELL, f"{name}!{reference} holds the formula {before}; --formulas replaces it")
        for below in list(cell.childNodes):
            cell.removeChild(below)
        if cell.hasAttribute("t"):
            cell.removeAttribute("t")
        write(document, cell, value)
        self.changed[self.sheets[name]] = document
        return name, before, self.shown(cell)

    def recalculate(self):
        """Has formulas worked out when the workbook is opened next."""
        root = self.workbook.documentElement
        calc = child(root, "calcPr")
        if calc is None:
            calc = element(self.workbook, root, "calcPr")
            after = ("definedNames", "externalReferences", "functionGroups", "sheets")
            last = next(node for node in (child(root, name) for name in after) if node is not None)
            root.insertBefore(calc, last.nextSibling)
        calc.setAttribute("fullCalcOnLoad", "1")
        self.changed["xl/workbook.xml"] = self.workbook

    def save(self):
        """Puts the workbook in the place of the old one, at once."""
        self.recalculate()
        try:
            mode = os.stat(self.file).st_mode & 0o777
            with tempfile.NamedTemporaryFile(dir=os.path.dirname(self.file) or ".", delete=False) as out:
                with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
                    for info in self.archive.infolist():
                        document = self.changed.get(info.filename)
                        archive.writestr(info, document.toxml(encoding="UTF-8") if document else self.archive.read(info))
            os.chmod(out.name, mode)
            os.replace(out.name, self.file)
        except OSError as e:
            raise Failure(FILE, f"{self.file}: {e.strerror}")


def element(document, parent, name):
    """Makes an element with the prefix that its parent has."""
    return document.createElementNS(MAIN, (parent.prefix + ":" if parent.prefix else "") + name)


def placed(document, parent, name, reference, place, wanted):
    """The row or cell with a number; made where it belongs if it is not there."""
    following = None
    for each in children(parent, name):
        if place(each) == wanted:
            return each
        if place(each) > wanted:
            following = each
            break
    made = element(document, parent, name)
    made.setAttribute("r", reference)
    parent.insertBefore(made, following)
    return made


def write(document, cell, value):
    if value == "":
        return
    if NUMBER.fullmatch(value):
        node = element(document, cell, "v")
        node.appendChild(document.createTextNode(value.lstrip("+")))
        cell.appendChild(node)
        return
    cell.setAttribute("t", "inlineStr")
    inline, node = element(document, cell, "is"), element(document, cell, "t")
    node.setAttribute("xml:space", "preserve")
    node.appendChild(document.createTextNode(value[1:] if value.startswith('"') else value))
    inline.appendChild(node)
    cell.appendChild(inline)


def show(book, name):
    name, document = book.sheet(name)
    print(f"sheets: {', '.join(book.sheets)}\n\n# {name}\n\n| cell | holds |\n|---|---|")
    for row in children(child(document.documentElement, "sheetData"), "row"):
        for cell in children(row, "c"):
            if held := book.shown(cell):
                print(f"| {cell.getAttribute('r')} | {held} |")


def change(book, assignments, formulas):
    lines = []
    for assignment in assignments:
        place, equals, value = assignment.partition("=")
        if not equals:
            raise Failure(USAGE, f"{assignment!r} is not CELL=VALUE")
        sheet, mark, reference = place.rpartition("!")
        name, before, after = book.set(sheet if mark else None, reference, value, formulas)
        lines.append(f"{name}!{reference.upper()}: {before or '(empty)'} -> {after or '(empty)'}")
    book.save()
    print("\n".join(lines))
    print(f"saved {book.file}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    showing = commands.add_parser("show", help="show the cells of a sheet")
    showing.add_argument("book")
    showing.add_argument("sheet", nargs="?")
    setting = commands.add_parser("set", help="change cells")
    setting.add_argument("book")
    setting.add_argument("cells", nargs="+", metavar="[SHEET!]CELL=VALUE")
    setting.add_argument("--formulas", action="store_true", help="replace formulas too")
    args = parser.parse_args()
    book = Book(args.book)
    if args.command == "show":
        show(book, args.sheet)
    else:
        change(book, args.cells, args.formulas)


if __name__ == "__main__":
    try:
        main()
    except Failure as failure:
        print(f"edit_sheet.py: {failure}", file=sys.stderr)
        sys.exit(failure.code)

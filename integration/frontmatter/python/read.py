"""Reads YAML documents with ruamel.yaml and PyYAML and says what they made of each.

stdin:  a JSON array of documents, each the base64 of its bytes.
stdout: a JSON array with one object for each document, and in it one for each
        reader that was asked: "json", the value's text, or "error", why there
        is none; and "odd", the types of values that have no equal in JSON and
        stand there as null.

The readers:

core    ruamel.yaml, YAML(typ="safe", pure=True), version 1.2, with the tag
        resolution of YAML 1.2.2, section 10.3.2. Its own resolution adds
        timestamps, merge keys, underscores in numbers, 0b and signed 0x.
ruamel  the same as it comes.
pyyaml  PyYAML's safe_load, which reads YAML 1.1.

The last two are asked only about documents that core reads and of which they
read every plain scalar as the core schema does: their own resolution gives it
the same tag, and it is no whole number with a leading zero, which PyYAML takes
for an octal one.
"""

import base64
import functools
import json
import math
import re
import sys
import warnings

import ruamel.yaml
import ruamel.yaml.resolver
import ruamel.yaml.tag
import yaml

PREFIX = "tag:yaml.org,2002:"

CORE = [
    (PREFIX + "null", re.compile(r"(?:null|Null|NULL|~|)\Z")),
    (PREFIX + "bool", re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")),
    (PREFIX + "int", re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")),
    (PREFIX + "float", re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?\Z")),
    (PREFIX + "float", re.compile(r"(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z")),
]


def core_tag(text):
    """The tag of a plain scalar in the core schema."""
    for tag, pattern in CORE:
        if pattern.match(text):
            return tag
    return PREFIX + "str"


class CoreResolver(ruamel.yaml.resolver.VersionedResolver):
    """Resolves as the core schema does and keeps what it resolved."""

    plain = []

    def resolve(self, kind, value, implicit):
        if kind is ruamel.yaml.nodes.ScalarNode and implicit[0]:
            self.plain.append(value)
            return ruamel.yaml.tag.Tag(suffix=core_tag(value))
        return super().resolve(kind, value, implicit)


def read_core(text):
    CoreResolver.plain.clear()
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    reader.Resolver = CoreResolver
    return reader.load(text)


def read_ruamel(text):
    reader = ruamel.yaml.YAML(typ="safe", pure=True)
    reader.version = (1, 2)
    return reader.load(text)


@functools.cache
def ruamel_reads_alike(text):
    resolver = ruamel.yaml.resolver.VersionedResolver((1, 2))
    return resolver.resolve(ruamel.yaml.nodes.ScalarNode, text, (True, False)).suffix == core_tag(text)


@functools.cache
def pyyaml_reads_alike(text):
    tag = yaml.resolver.Resolver().resolve(yaml.ScalarNode, text, (True, False))
    # A leading zero makes an octal number in YAML 1.1 and a decimal one in 1.2.
    return tag == core_tag(text) and not (tag == PREFIX + "int" and re.match(r"[-+]?0[0-9]", text))


class Encoder:
    """Turns values into what JSON can hold and keeps the types that it cannot."""

    # Values and characters that it takes. Aliases can stand for more than
    # anybody can write down.
    budget = 2_000_000

    def __init__(self, value):
        self.odd = set()
        if self.size(value, {}) > self.budget:
            raise ValueError("the aliases expand to too much")

    def size(self, value, known):
        """The values and characters in it, each alias's counted where it stands."""
        if isinstance(value, str):
            return 1 + len(value)
        if not isinstance(value, (dict, list)):
            return 1
        if id(value) not in known:
            known[id(value)] = None
            held = value.values() if isinstance(value, dict) else value
            known[id(value)] = 1 + sum(self.size(item, known) for item in held)
        if known[id(value)] is None:
            raise ValueError("the value holds itself")
        return known[id(value)]

    def plain(self, value):
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, list):
            return [self.plain(item) for item in value]
        if isinstance(value, dict):
            return {self.key(key): self.plain(item) for key, item in value.items()}
        self.odd.add(type(value).__name__)
        return None

    def key(self, key):
        if not isinstance(key, str):
            self.odd.add(type(key).__name__ + " as a key")
        return str(key)


def outcome(read, text):
    try:
        value = read(text)
        encoder = Encoder(value)
        return {"json": json.dumps(encoder.plain(value)), "odd": sorted(encoder.odd)}
    except RecursionError:
        return {"error": "RecursionError"}
    except Exception as error:  # whatever a reader raises is its refusal
        return {"error": f"{type(error).__name__}: {error}"}


def outcomes(encoded):
    try:
        text = base64.b64decode(encoded).decode("utf-8")
    except UnicodeDecodeError as error:
        # YAML 1.2.2, section 5.2: what is not a Unicode encoding is not YAML.
        return {"core": {"error": str(error)}}
    found = {"core": outcome(read_core, text)}
    plain = set(CoreResolver.plain)
    if "error" not in found["core"]:
        for name, read, alike in (("ruamel", read_ruamel, ruamel_reads_alike), ("pyyaml", yaml.safe_load, pyyaml_reads_alike)):
            if all(map(alike, plain)):
                found[name] = outcome(read, text)
    return found


warnings.simplefilter("ignore")
json.dump([outcomes(encoded) for encoded in json.load(sys.stdin)], sys.stdout)

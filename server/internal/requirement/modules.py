# Tells which modules the Python programs of a skill import that are not
# installed. Programs are parsed and never run: it is started in isolated mode,
# so that no file of theirs is on the module path either. Where they find others'
# packages by PYTHONPATH, so does this, when it has all modules of its own.
#
# Reads {"scripts": [path, ...], "local": [name, ...]} with paths relative to
# $SKILL_DIR and the names of the skill's own modules. Writes a list of
# {"script", "module", "sure"}; sure tells that the import is at the top level,
# where nothing can go around it.
import ast
import importlib.util
import json
import os
import sys

MAX_BYTES = 256 << 10

skill = os.environ["SKILL_DIR"]
sys.path += [place for place in os.environ.get("PYTHONPATH", "").split(os.pathsep) if place not in ("", skill)]

question = json.load(sys.stdin)
local = set(question["local"])


def installed(name):
    if name in local:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError):  # one that is there and out of the ordinary
        return name in sys.modules


def named(node):
    if isinstance(node, ast.Import):
        return [alias.name.split(".")[0] for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.level == 0:
        return [node.module.split(".")[0]]
    return []


def for_types_only(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)


def missing_in(nodes, sure=False):
    """The missing modules that statements import, with whether they must."""
    found = []
    for node in nodes:
        found += [(name, sure) for name in named(node) if not installed(name)]
        if isinstance(node, ast.Try):
            found += missing_in_try(node)
        elif for_types_only(node):
            found += missing_in(node.orelse)
        else:
            found += missing_in(ast.iter_child_nodes(node))
    return found


def missing_in_try(node):
    """Of a first choice and a second one, the second can be enough."""
    first = missing_in(node.body)
    handlers = [inner for handler in node.handlers for inner in handler.body]
    second = any(named(inner) for inner in handlers) and not missing_in(handlers)
    return ([] if second else first) + missing_in(node.orelse + node.finalbody)


def look(script):
    with open(os.path.join(skill, script), "rb") as file:
        text = file.read(MAX_BYTES + 1)
    if len(text) > MAX_BYTES:
        return {}
    answer = {}
    for name, sure in missing_in(ast.parse(text).body, sure=True):
        answer[name] = sure or answer.get(name, False)
    return answer


answers = []
for script in question["scripts"]:
    try:
        answers += [{"script": script, "module": name, "sure": sure} for name, sure in look(script).items()]
    except Exception:  # of another Python, or no program at all
        pass
json.dump(answers, sys.stdout)

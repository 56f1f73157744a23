"""Asks the reference validator of Agent Skills about directories.

stdin:  a JSON array of the paths of skills' directories.
stdout: a JSON array that says of each what is wrong with it, in an array.

What it raises is a refusal: its command ends with a traceback then.
"""

import json
import sys

from skills_ref.validator import validate


def refusals(directory):
    try:
        return validate(directory)
    except Exception as error:
        return [f"{type(error).__name__}: {error}"]


json.dump([refusals(directory) for directory in json.load(sys.stdin)], sys.stdout)

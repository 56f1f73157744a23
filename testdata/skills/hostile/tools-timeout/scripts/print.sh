#!/usr/bin/env bash
# Prints its arguments, one a line, in angle brackets.
printf '<%s>\n' "$@"

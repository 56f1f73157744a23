#!/usr/bin/env bash
# Prints its arguments one a line, each in angle brackets, so that a lost,
# split or expanded argument can be seen.
#
# usage: echo.sh [--exit CODE] [ARGUMENT...]
set -u

code=0
if [ "${1-}" = "--exit" ]; then
  code=${2-}
  case $code in
    '' | *[!0-9]* | ????*)
      echo "echo.sh: --exit wants a number from 0 to 255, not '$code'" >&2
      exit 2
      ;;
  esac
  if [ "$((10#$code))" -gt 255 ]; then
    echo "echo.sh: --exit wants a number from 0 to 255, not '$code'" >&2
    exit 2
  fi
  shift 2
fi

echo "SSV-ECHO-93d6af"
echo "argc=$#"
n=0
for argument in "$@"; do
  n=$((n + 1))
  printf 'arg %d: <%s>\n' "$n" "$argument"
done
exit "$((10#$code))"

#!/usr/bin/env bash
# Starts a report in the workspace from a template.
#
# usage: new_report.sh [--template NAME] TITLE
set -eu

die() {
  code=$1
  shift
  printf 'new_report.sh: %s\n' "$*" >&2
  exit "$code"
}

templates=$(cd "$(dirname "$0")/../assets/templates" && pwd)
template=findings
if [ "${1-}" = --template ]; then
  [ $# -ge 2 ] || die 2 "--template needs a name"
  template=$2
  shift 2
fi
case ${1-} in --*) die 2 "unknown option $1" ;; esac
[ $# -eq 1 ] && [ -n "$1" ] || die 2 "usage: new_report.sh [--template NAME] TITLE (one argument, not $#)"
title=$1
case $title in *[[:cntrl:]]*) die 2 "the title holds a line break or another control character" ;; esac

case $template in
  *[!a-z-]* | '') die 3 "no template '$template'" ;;
esac
if [ ! -f "$templates/$template.md" ]; then
  known=$(basename -s .md "$templates"/*.md | tr '\n' ' ')
  die 3 "no template '$template'; there are: $known"
fi

# Letters and digits of any language stay; all the rest becomes one hyphen.
name=$(printf '%s' "$title" | tr -s '[:space:][:punct:]' '-' | tr '[:upper:]' '[:lower:]')
name=${name#-}
name=${name%-}
[ -n "$name" ] || die 2 "the title needs a letter or a digit"
[ "$(printf '%s' "$name" | wc -c)" -le 200 ] || die 2 "the title is too long for a file name"
file=$name.md

cd "${WORKSPACE:-.}"
set -C # an existing report is never overwritten
{
  while IFS= read -r line; do
    line=${line//'{{title}}'/"$title"}
    printf '%s\n' "$line"
  done <"$templates/$template.md"
} 2>/dev/null >"$file" || die 5 "'$file' exists already, or the workspace cannot be written"
printf 'started %s from the template %s\n' "$file" "$template"

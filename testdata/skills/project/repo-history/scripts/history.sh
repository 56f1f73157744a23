#!/usr/bin/env bash
# Sums up the history of the working directory's repository as Markdown.
set -euo pipefail

fail() {
  echo "history.sh: $2" >&2
  exit "$1"
}

since=() path=() out=
while (($#)); do
  case $1 in
  --since | --path | --out)
    (($# > 1)) || fail 2 "$1 wants a value"
    case $1 in
    --since) since=("--since=$2") ;;
    --path) path=(-- "$2") ;;
    --out) out=$2 ;;
    esac
    shift 2
    ;;
  *) fail 2 "unknown argument $1: there are --since, --path and --out" ;;
  esac
done

git rev-parse --verify --quiet HEAD >/dev/null || fail 3 "no commits here: $(git rev-parse --git-dir 2>&1 >/dev/null | head -1)"

# history prints what git log says of the commits that are asked for.
history() { git log --no-merges "${since[@]}" "$@" "${path[@]}"; }

[[ -n $(history -n 1 --format=%h) ]] || fail 3 "no commit is as asked for"

# table makes rows of lines that begin with a number.
table() { awk '{ n = $1; sub(/^ *[0-9]+[ \t]+/, ""); gsub(/\|/, "\\|"); print "| " $0 " | " n " |" }'; }

counted() { sort | uniq -c | sort -k1,1nr -k2; }

summary() {
  echo "# History of $(basename "$(git rev-parse --show-toplevel)")"
  echo
  echo "$(history --format=%h | wc -l | tr -d ' ') commits, $(history --format=%as | sort | head -1) to $(history --format=%as | sort | tail -1)."
  printf '\n## People\n\n| who | commits |\n|---|---:|\n'
  history --format=%aN | counted | table
  printf '\n## Months\n\n| month | commits |\n|---|---:|\n'
  history --format=%ad --date=format:%Y-%m | sort | uniq -c | table
  printf '\n## Files that changed most\n\n| file | commits |\n|---|---:|\n'
  history --format= --name-only | counted | awk 'NR <= 10' | table
  printf '\n## Releases\n\n'
  git for-each-ref --sort=-creatordate --format='- %(refname:short), %(creatordate:short)' refs/tags
  printf '\n## Latest commits\n\n'
  history -n 10 --format='- %as %s (%aN)'
}

if [[ -z $out ]]; then
  summary
else
  mkdir -p "$(dirname "$out")"
  summary >"$out"
  echo "wrote $out"
fi

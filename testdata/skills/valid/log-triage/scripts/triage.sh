#!/usr/bin/env bash
# Summarises a log by severity, by hour and by repeated pattern.
#
# usage: triage.sh [--since TIME] [--until TIME] [--top N] [--out FILE]
#                  [--fail-on LEVEL] [LOG|-]
#
# Needs bash 3.2 or newer and coreutils, nothing else.
set -eu
export LC_ALL=C # bytes: a log may hold any encoding

usage() {
  cat <<'HELP'
usage: triage.sh [option...] [LOG|-]

Without LOG, or with -, the log is read from standard input.

  --since TIME      only lines from this ISO 8601 time (or a prefix of it) on
  --until TIME      only lines up to this time
  --top N           how many patterns to list, 1 to 100 (10)
  --out FILE        where the report goes (log-triage.md in the workspace)
  --fail-on LEVEL   exit with 1 at fatal, error, warn, info, debug or worse
  --help            this text

exit codes: 0 done, 1 --fail-on was met, 2 wrong usage,
            3 cannot open the log or the report, 4 nothing to report on
HELP
}

die() {
  code=$1
  shift
  printf 'triage.sh: %s\n' "$*" >&2
  exit "$code"
}

SEVERITIES="FATAL ERROR WARN INFO DEBUG OTHER"
workspace=${WORKSPACE:-.}
skill=$(cd "$(dirname "$0")/.." && pwd)

since='' until='' top=10 out='' fail_on='' log=''
while [ $# -gt 0 ]; do
  case $1 in
    --help) usage; exit 0 ;;
    --since | --until | --top | --out | --fail-on)
      [ $# -ge 2 ] || die 2 "$1 needs a value (see --help)"
      case $1 in
        --since) since=${2/ /T} ;;
        --until) until=${2/ /T} ;;
        --top) top=$2 ;;
        --out) out=$2 ;;
        --fail-on) fail_on=$2 ;;
      esac
      shift 2
      ;;
    --*) die 2 "unknown option $1 (see --help)" ;;
    *)
      [ -z "$log" ] || die 2 "one log at a time: got '$log' and '$1'"
      [ -n "$1" ] || die 2 "the log's name is empty"
      log=$1
      shift
      ;;
  esac
done

case $top in
  '' | *[!0-9]* | ????* | 0*) die 2 "--top wants a number from 1 to 100, not '$top'" ;;
esac
[ "$top" -le 100 ] || die 2 "--top wants a number from 1 to 100, not '$top'"
for time in "$since" "$until"; do
  case $time in
    '' | [0-9][0-9][0-9][0-9] | [0-9][0-9][0-9][0-9]-[0-9][0-9]*) ;;
    *) die 2 "'$time' is no ISO 8601 time such as 2026-05-04T09" ;;
  esac
done
fail_on=$(printf '%s' "$fail_on" | tr '[:lower:]' '[:upper:]')
case " FATAL ERROR WARN INFO DEBUG " in
  *" ${fail_on:-INFO} "*) ;;
  *) die 2 "--fail-on wants fatal, error, warn, info or debug" ;;
esac

# A relative log is looked for where we stand, in the workspace, in the skill.
if [ -n "$log" ] && [ "$log" != - ]; then
  for candidate in "$log" "$workspace/$log" "$skill/$log"; do
    [ -f "$candidate" ] && break
  done
  [ -f "$candidate" ] || die 3 "no file '$log' here, in the workspace or in the skill"
  [ -r "$candidate" ] || die 3 "'$log' cannot be read: permission denied"
  exec <"$candidate"
else
  log='standard input'
fi

out=${out:-log-triage.md}
case $out in
  /*) target=$out ;;
  *) target=$workspace/$out ;;
esac
work=$(mktemp -d "${TMPDIR:-/tmp}/log-triage.XXXXXX") || die 3 "no place for temporary files"
trap 'rm -rf "$work"' EXIT

# severity_of MESSAGE sets $severity, and $word, by which it was told. Letter
# case does not matter here: classify sets nocasematch.
WORDS='(fatal|panic|emerg|emergency|alert|crit|critical|error|err|severe|fail|failed|exception|warn|warning|info|notice|debug|trace|verbose)'
severity_of() {
  severity=OTHER
  [[ $1 =~ (^|[^A-Za-z])$WORDS([^A-Za-z]|$) ]] || return 0
  word=${BASH_REMATCH[2]}
  case $word in
    err* | severe | fail* | exception) severity=ERROR ;;
    warn*) severity=WARN ;;
    info | notice) severity=INFO ;;
    debug | trace | verbose) severity=DEBUG ;;
    *) severity=FATAL ;;
  esac
}

# shorten LENGTH cuts $pattern to that many bytes, never inside a character.
shorten() {
  [ ${#pattern} -gt "$1" ] || return 0
  pattern=${pattern:0:$1}
  while [[ $pattern == *[$'\x80'-$'\xbf'] ]]; do pattern=${pattern%?}; done
  pattern=${pattern%[$'\xc0'-$'\xff']}
}

# pattern_of MESSAGE sets $pattern: ids and numbers become #.
pattern_of() {
  pattern=$1
  # A leading severity word stands in the report's own column already.
  [[ $pattern =~ ^[][:space:][\<({-]*${word}[]:[:space:]\>)}-]+(.*)$ ]] && pattern=${BASH_REMATCH[1]}
  shorten 400
  while [[ $pattern =~ (^|[^A-Za-z0-9])([0-9A-Fa-f]{8,})([^A-Za-z0-9]|$) ]]; do
    pattern=${pattern/"${BASH_REMATCH[2]}"/#}
  done
  pattern=${pattern//[0-9]/#}
  while [[ $pattern == *'##'* ]]; do pattern=${pattern//'##'/#}; done
  pattern=${pattern//[[:cntrl:]]/ }
  pattern=${pattern//[\`|]/\'}
}

# classify prints hour and severity of every line; on descriptor 4 hour,
# severity and pattern of warnings and worse; on 3 a mark a continuation.
STAMP='^[^0-9A-Za-z]{0,2}([0-9]{4}-[0-9]{2}-[0-9]{2})[T ]([0-9]{2})(:[0-9]{2}(:[0-9]{2})?)?[0-9.,:Z+-]*'
classify() {
  inside=yes seen=''
  shopt -s nocasematch
  while IFS= read -r line || [ -n "$line" ]; do
    line=${line%$'\r'}
    [ -n "$line" ] || continue
    if [[ $line =~ $STAMP ]]; then
      stamp=${BASH_REMATCH[1]}T${BASH_REMATCH[2]}${BASH_REMATCH[3]}
      hour=${BASH_REMATCH[1]}T${BASH_REMATCH[2]}:00
      message=${line:${#BASH_REMATCH[0]}}
      inside=yes seen=yes
      [ -z "$since" ] || [[ ! ${stamp:0:${#since}} < $since ]] || inside=''
      [ -z "$until" ] || [[ ! ${stamp:0:${#until}} > $until ]] || inside=''
    elif [ -n "$seen" ]; then
      [ -z "$inside" ] || printf '+' >&3
      continue
    else
      hour='no time' message=$line
    fi
    [ -n "$inside" ] || continue
    severity_of "$message"
    printf '%s\t%s\n' "$hour" "$severity"
    case $severity in
      FATAL | ERROR | WARN)
        pattern_of "$message"
        printf '%s\t%s\t%s\n' "$hour" "$severity" "$pattern" >&4
        ;;
    esac
  done
}

# count_of SEVERITY prints how many lines have it.
count_of() {
  while read -r count severity; do
    [ "$severity" != "$1" ] || { printf '%d' "$count"; return; }
  done <"$work/severities"
  printf '0'
}

# bar COUNT MOST draws up to 40 marks, at least one.
bar() {
  marks=$(($1 * 40 / $2))
  [ "$marks" -gt 0 ] || marks=1
  printf '%*s' "$marks" '' | tr ' ' '#'
}

report() {
  printf '# Log triage: %s\n\n' "$log"
  printf '%d lines, %d continuation lines.\n\n' "$lines" "$continuations"

  printf '## By severity\n\n| severity | lines |\n|---|---:|\n'
  for severity in $SEVERITIES; do
    count=$(count_of "$severity")
    [ "$count" -eq 0 ] || printf '| %s | %d |\n' "$severity" "$count"
  done

  printf '\n## Errors and worse by hour\n\n'
  while IFS=$'\t' read -r hour severity pattern; do
    [ "$severity" = WARN ] || printf '%s\n' "$hour"
  done <"$work/bad" | sort | uniq -c >"$work/hours"
  most=1
  while read -r count hour; do [ "$count" -le "$most" ] || most=$count; done <"$work/hours"
  if [ -s "$work/hours" ]; then
    printf '```\n'
    while read -r count hour; do
      printf '%-16s %6d %s\n' "$hour" "$count" "$(bar "$count" "$most")"
    done <"$work/hours"
    printf '```\n'
  else
    printf 'None.\n'
  fi

  printf '\n## Repeated patterns\n\n'
  if [ -s "$work/patterns" ]; then
    printf '| count | severity | pattern |\n|---:|---|---|\n'
    while IFS=$' \t' read -r count severity pattern; do
      whole=$pattern
      shorten 120
      [ "$pattern" = "$whole" ] || pattern=$pattern...
      printf '| %d | %s | `%s` |\n' "$count" "$severity" "$pattern"
    done <"$work/patterns"
  else
    printf 'No errors and no warnings.\n'
  fi
}

exec 3>"$work/continuations" 4>"$work/bad"
classify >"$work/lines"
exec 3>&- 4>&-
lines=$(wc -l <"$work/lines")
continuations=$(wc -c <"$work/continuations")
[ "$lines" -gt 0 ] || die 4 "no line of $log is left to report on (empty, or outside --since and --until)"
cut -f 2 "$work/lines" | sort | uniq -c >"$work/severities"

cut -s -f 2,3 "$work/bad" | sort | uniq -c | sort -k1,1nr -k2 >"$work/ranked"
head -n "$top" "$work/ranked" >"$work/patterns"

(report >"$target") 2>/dev/null || die 3 "the report '$out' cannot be written"
cat "$target"
printf '\nReport written to %s\n' "$out"

for severity in $SEVERITIES; do
  [ -n "$fail_on" ] || break
  if [ "$(count_of "$severity")" -gt 0 ]; then
    printf 'triage.sh: found %s\n' "$severity" >&2
    exit 1
  fi
  [ "$severity" != "$fail_on" ] || break
done

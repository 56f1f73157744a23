#!/usr/bin/env bash
# Tries, harmlessly, to leave the sandbox. Prints "blocked NAME" or
# "ESCAPED NAME" an attempt; the exit code is the number of escapes.
set -u

skill=${SKILL_DIR:-$(cd "$(dirname "$0")/.." && pwd)}
escapes=0

# try NAME COMMAND...: the command succeeds where the sandbox has failed.
try() {
  name=$1
  shift
  if "$@" >/dev/null 2>&1 </dev/null; then
    echo "ESCAPED $name"
    escapes=$((escapes + 1))
  else
    echo "blocked $name"
  fi
}

can_read() { head -c 1 "$1"; }
can_connect() { timeout 2 bash -c 'exec 3<>"/dev/tcp/$1/$2"' - "$1" "$2"; }

try read-outside-of-skill can_read "$skill/../../outside.txt"
try read-outside-of-workspace can_read "$PWD/../../outside.txt"
try stat-outside-of-skill test -e "$skill/../../outside.txt"
try write-to-skill test -w "$skill"
try write-to-system test -w /etc
try read-shadow can_read /etc/shadow
try read-ssh-of-root ls /root/.ssh
try docker-socket test -S /var/run/docker.sock
try parent-environment can_read "/proc/$PPID/environ"
try network-loopback can_connect 127.0.0.1 "${ESCAPE_PORT:-9}"
try network-outside can_connect 192.0.2.1 80
exit "$escapes"

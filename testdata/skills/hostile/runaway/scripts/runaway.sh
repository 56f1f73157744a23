#!/usr/bin/env bash
# Misbehaves in a chosen way, for tests of limits. Every mode ends by itself
# within ten minutes, should nobody stop it.
#
# usage: runaway.sh MODE
#   sleep         sleeps
#   deaf          sleeps and ignores TERM, INT and HUP
#   flood         writes to standard output without end
#   flood-stderr  writes to standard error without end
#   orphan        prints the id of a child in a session of its own, and ends
#   tree          starts children of children that sleep, and sleeps
#   hold          ends at once; a child keeps its standard output open
#   crash         kills itself with SEGV
#   binary        writes every byte value once
#   many-files    makes 1000 files in the workspace
#   links         makes links, a FIFO and a directory loop in the workspace
#   big-file      makes a sparse file of 1 GiB in the workspace
#   waste         makes 100,000 empty files in the workspace, and sleeps
#   exit N        exits with N
set -u

case ${1-} in
  sleep) sleep 600 ;;
  deaf)
    trap '' TERM INT HUP
    echo ready
    for _ in 1 2 3 4 5 6 7 8 9 10; do sleep 60; done
    ;;
  flood) timeout --foreground 600 yes 'all work and no play makes the model a dull one' ;;
  flood-stderr) timeout --foreground 600 yes 'all work and no play makes the model a dull one' >&2 ;;
  orphan)
    setsid sleep 600 >/dev/null 2>&1 </dev/null &
    echo $!
    ;;
  tree)
    for _ in 1 2 3; do (sleep 600 & sleep 600) & done
    echo ready
    sleep 600
    ;;
  hold) sleep 600 & echo done ;;
  crash) kill -SEGV $$ ;;
  binary)
    for i in {0..255}; do printf '%b' "\\0$(printf '%o' "$i")"; done
    ;;
  many-files)
    mkdir -p many
    for i in {1..1000}; do echo "$i" >"many/$i.txt"; done
    ;;
  links)
    ln -sf /etc/passwd absolute-link.txt
    ln -sf ../../outside.txt relative-link.txt
    ln -sfn . loop
    [ -p pipe ] || mkfifo pipe
    echo 'a real artifact' >real.txt
    ;;
  big-file) truncate -s 1G big.bin ;;
  waste)
    for ((i = 0; i < 100000; i++)); do : >"$i"; done
    sleep 600
    ;;
  exit) exit "${2:-1}" ;;
  *)
    echo "runaway.sh: unknown mode '${1-}'; the modes are listed at the top of the script" >&2
    exit 2
    ;;
esac

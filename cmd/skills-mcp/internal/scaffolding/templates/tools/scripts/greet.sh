#!/bin/sh
# Greets who is named, as often as the second argument says.
set -eu

times=${2:-1}
while [ "$times" -gt 0 ]; do
	echo "Hello, $1!"
	times=$((times - 1))
done

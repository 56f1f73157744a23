# Decides which packages of npm are installed, and installs them. $STEP is "lock"
# or "install", of which the first writes package-lock.json. No program of a
# package is run. It ends with 127 where there is no npm.
set -eu
cd node/lib
common="--ignore-scripts --no-audit --no-fund --no-update-notifier --allow-git=none --allow-remote=none --allow-file=none --loglevel=error --fetch-retries=1 --fetch-timeout="${INDEX_TIMEOUT}000" --fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=2000"
case $STEP in
lock)
  command -v npm >/dev/null || exit 127
  node -p 'JSON.stringify({path: require("fs").realpathSync(process.execPath), version: process.versions.node,
    implementation: "node", platform: process.platform, machine: process.arch})' >../../node.json
  [ -s package-lock.json ] || npm install --package-lock-only $common ${EXCLUDE_NEWER:+--before="$EXCLUDE_NEWER"} >&2
  ;;
install)
  npm ci $common >&2
  ;;
esac

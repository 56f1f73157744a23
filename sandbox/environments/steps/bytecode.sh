# Compiles the modules, since programs cannot write beside them. What packages
# would run at the start of Python is not run.
set -eu
python=$(command -v python3 || command -v python)
"$python" -I -S -m compileall -q -j 0 --invalidation-mode unchecked-hash python/lib >/dev/null 2>&1 || true

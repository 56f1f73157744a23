# Decides which packages are installed. $UV is the program. Reads
# requirements.in, and writes interpreter.json and requirements.txt. It ends with
# 127 where there is no Python.
set -eu
python=$(command -v python3 || command -v python) || exit 127
"$python" -I -S -c 'import json, os, platform, sys, sysconfig
print(json.dumps({"path": os.path.realpath(sys.executable), "version": platform.python_version(),
  "implementation": sys.implementation.name, "platform": sysconfig.get_platform(), "machine": platform.machine(), "libc": platform.libc_ver()}))' >interpreter.json
[ -s requirements.in ] || exit 0
"$UV" pip compile --quiet --no-config --no-sources --no-build --no-python-downloads --generate-hashes --no-header --no-annotate \
  --python "$python" ${EXCLUDE_NEWER:+--exclude-newer "$EXCLUDE_NEWER"} --output-file requirements.txt requirements.in >&2

# Installs what requirements.txt says into the new virtual environment "python".
# No program of a package is run.
set -eu
python=$(command -v python3 || command -v python)
"$UV" venv --quiet --no-config --no-project --no-python-downloads --relocatable --system-site-packages --python "$python" python
"$UV" pip install --quiet --no-config --no-sources --no-build --no-python-downloads --no-deps --require-hashes --link-mode hardlink \
  --python python/bin/python --requirements requirements.txt

#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: uv, bubblewrap, and the course with its packages.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -y -qq bubblewrap python3-venv
python3 -m venv /opt/uv
/opt/uv/bin/pip install --quiet uv
ln -sf /opt/uv/bin/uv /usr/local/bin/uv
cd /autograder/source/course
uv sync --quiet --no-dev

#!/usr/bin/env bash
# Gradescope runs this once, when it builds the image: uv, what a sandbox needs, and the course with its packages.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
root="${AUTOGRADER_ROOT:-/autograder}"
tools="${AUTOGRADER_TOOLS:-/opt/uv}"
programs="${AUTOGRADER_PROGRAMS:-/usr/local/bin}"

apt-get update -qq
apt-get install -y -qq bubblewrap libseccomp2 python3-venv
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet uv
ln -sf "$tools/bin/uv" "$programs/uv"
cd "$root/source/course"
uv sync --quiet --no-dev

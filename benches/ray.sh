#!/usr/bin/env bash
# Speed and memory of generate on two Ray workers of one CPU each, beside one process with two threads. Compares the
# bytes. benches/ray.sh [ROWS [SHARDS]]; a million rows in 50 shards unless given.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked --quiet
[ -x target/venv-ray/bin/python ] || python3 -m venv target/venv-ray
target/venv-ray/bin/pip install --quiet --disable-pip-version-check -r recipes/ray/requirements.txt
export DIORAMA="${CARGO_TARGET_DIR:-target}/release/diorama"
target/venv-ray/bin/python recipes/tests/check_ray.py --rows "${1:-1000000}" --shards "${2:-50}"

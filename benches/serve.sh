#!/usr/bin/env bash
# `diorama serve` beside a bare axum handler and json-server (npm) on the same 1,000 records, with wrk: rates and their
# ratios, latencies of reset, fork and of 1,024 sessions at once, memory of 10,000 sessions. SECONDS_EACH sets the length
# of a run; arguments choose parts: get (the first rate), rates, crowd. Needs wrk and python3; json-server is left out where there is no npm.
set -euo pipefail
cd "$(dirname "$0")/.."
command -v wrk >/dev/null || { echo "wrk is missing (Debian: apt-get install wrk)" >&2; exit 1; }
cargo build --release --quiet
cargo build --release --quiet --workspace --example bare_axum
built="${CARGO_TARGET_DIR:-target}/release"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 benches/serve/world.py yaml >"$folder/items.yaml"
python3 benches/serve/world.py json-server >"$folder/db.json"
command -v npm >/dev/null && npm install --silent --no-audit --no-fund --prefix "$folder" json-server@0.17.4 >&2
python3 benches/serve/measure.py "$built/diorama" "$built/examples/bare_axum" "$folder" "${SECONDS_EACH:-5}" "$@"

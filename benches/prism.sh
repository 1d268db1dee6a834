#!/usr/bin/env bash
# Requests per second of `diorama serve` and of @stoplight/prism-cli on the same document, one after the other, with the
# same client (wrk). Prints the ratios. Usage: benches/prism.sh [DOCUMENT] [SECONDS]
# Needs npm, wrk and python3. The document is TMDB's, as RestBench has it, unless another with the same two paths is named.
set -euo pipefail
cd "$(dirname "$0")/.."
document=${1:-../shared/data/restbench/tmdb_oas.json}
seconds=${2:-5}
prism_version=5.16.0
tools=${CARGO_TARGET_DIR:-target}/bench-prism
for tool in npm wrk python3 curl; do
  command -v "$tool" >/dev/null || { echo "$tool is not here" >&2; exit 2; }
done
[ -f "$document" ] || { echo "$document is not here; name a document" >&2; exit 2; }
mkdir -p "$tools"
if [ ! -x "$tools/node_modules/.bin/prism" ]; then
  npm install --silent --no-fund --no-audit --prefix "$tools" "@stoplight/prism-cli@$prism_version" >&2
fi
diorama=${DIORAMA:-}
if [ -z "$diorama" ]; then
  cargo build --release --quiet -p diorama-agents
  diorama=${CARGO_TARGET_DIR:-target}/release/diorama
fi

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }
pids=()
trap 'for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done' EXIT
await() { # URL
  for _ in $(seq 1 150); do curl --silent --output /dev/null "$1" && return; sleep 0.2; done
  echo "no answer from $1" >&2; exit 1
}
rate() { # URL: requests per second, after a warm-up
  wrk -t1 -c16 -d1s "$1" >/dev/null
  wrk -t1 -c16 -d"${seconds}s" "$1" | awk '/Requests\/sec/ {rate = $2} /Non-2xx/ {bad = $0} END {
    if (bad != "") { print "responses that are no 2xx:" bad > "/dev/stderr"; exit 1 } print rate }'
}
field() { python3 -c 'import json, sys; print(json.load(sys.stdin)'"$1"')'; }

port=$(free_port)
"$tools/node_modules/.bin/prism" mock --host 127.0.0.1 --port "$port" --verboseLevel error "$document" >/dev/null 2>&1 &
pids+=($!)
prism=http://127.0.0.1:$port
await "$prism/genre/movie/list?api_key=k"

port=$(free_port)
"$diorama" serve --openapi "$document" --port "$port" --max-calls 1000000000 >/dev/null 2>&1 &
pids+=($!)
await "http://127.0.0.1:$port/healthz"
base=$(curl --silent --fail --request POST "http://127.0.0.1:$port/v1/sessions" --json '{}' | field '["base_url"]')
# An id that the world has; prism answers any.
id=$(curl --silent --fail "$base/movie/popular?api_key=k" | field '["results"][0]["id"]')

printf '%-24s %12s %12s %8s\n' "requests per second" prism diorama ratio
for path in "/genre/movie/list" "/movie/{id}"; do
  filled=${path/\{id\}/$id}
  theirs=$(rate "$prism$filled?api_key=k")
  ours=$(rate "$base$filled?api_key=k")
  printf '%-24s %12.0f %12.0f %7.1fx\n' "GET $path" "$theirs" "$ours" "$(python3 -c "print($ours / $theirs)")"
done

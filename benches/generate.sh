#!/usr/bin/env bash
# Speed and peak memory of `diorama generate` for each number of dialogues given, and of `verify` on the result.
# Prints one line per run: rows, threads, seconds, rows per second, peak resident memory.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --quiet
binary="${CARGO_TARGET_DIR:-target}/release/diorama"
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
measure() { # label, command...
  local label=$1; shift
  python3 - "$label" "$@" <<'PY'
import resource, subprocess, sys, time
label, command = sys.argv[1], sys.argv[2:]
start = time.monotonic()
done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
seconds = time.monotonic() - start
if done.returncode != 0:
    sys.exit(f"{label}: exit {done.returncode}\n{done.stderr.decode()[-2000:]}")
rows = int(label.split()[1])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
print(f"{label}: {seconds:.1f} s, {rows / seconds:.0f} rows/s, peak {peak:.0f} MiB")
PY
}
for rows in "${@:-10000}"; do
  for threads in 1 2; do
    measure "generate $rows rows on $threads thread(s)" "$binary" generate --out "$folder/$rows-$threads" --dialogues "$rows" --seed 7 --threads "$threads"
  done
  measure "verify $rows rows" "$binary" dataset verify "$folder/$rows-2"
  rm -rf "${folder:?}/$rows-1" "${folder:?}/$rows-2"
done

#!/usr/bin/env bash
# Submits an array job of shards, and a merge that starts when all of them have ended well.
#
#   submit.sh SHARDS LOCATION [options of `diorama generate`]
#   submit.sh 100 s3://bucket/run -n 1000000 --seed 7
#
# Run the same command again after a failure: shards that are done return at once. Options of sbatch stand in its usual
# variables (SBATCH_PARTITION, SBATCH_ACCOUNT, ...). MAX_RUNNING bounds the tasks that run at a time.
set -euo pipefail
if [ $# -lt 2 ] || ! [[ $1 =~ ^[1-9][0-9]*$ ]]; then
  echo "usage: submit.sh SHARDS LOCATION [options of diorama generate]" >&2
  exit 2
fi
shards=$1 location=$2
shift 2
here=$(cd "$(dirname "$0")" && pwd)
# Tasks start in the folder of the submission, but a path is kept whole in case a site changes that.
case $location in *://* | /*) ;; *) location=$PWD/$location ;; esac

export DIORAMA_SHARDS=$shards
array=$(sbatch --parsable --array="1-$shards${MAX_RUNNING:+%$MAX_RUNNING}" "$here/generate.sbatch" --out "$location" "$@")
merge=$(sbatch --parsable --dependency="afterok:${array%%;*}" --kill-on-invalid-dep=yes "$here/merge.sbatch" "$location")
echo "shards: job ${array%%;*}, merge: job ${merge%%;*}"

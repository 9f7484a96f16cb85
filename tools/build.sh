#!/usr/bin/env bash
# Configures and builds the release preset with little output; the full output is in
# build/release/build.log.
#   tools/build.sh                 the library, the programs and the tests
#   tools/build.sh heed            only these targets
#   tools/build.sh --first         heed with the core and its report, where nothing is built yet
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

mkdir -p build/release
log=build/release/build.log
what=${*:-everything}
options=()
if [ "${1:-}" = --first ]; then
  shift
  set -- heed
  what="heed for a first run"
  [ -x build/release/heed ] || options=(-DHEED_FIRST=ON)
fi
target=()
[ $# -eq 0 ] || target=(--target "$@")

# A job takes up to 1.5 GB.
jobs=$(nproc) most=$(awk '/^MemAvailable/ { print int($2 / 1.5e6) }' /proc/meminfo)
[ "${most:-$jobs}" -ge "$jobs" ] || jobs=$((most > 1 ? most : 1))

echo "build: $what with the release preset, $jobs jobs; this takes some minutes the first time"
start=$SECONDS
build() {
  cmake --preset release ${options[@]+"${options[@]}"} &&
    cmake --build --preset release -j"$jobs" ${target[@]+"${target[@]}"}
}
if ! build >"$log" 2>&1; then
  grep -nE -A 3 '[Ee]rror' "$log" | head -n 40 >&2 || tail -n 40 "$log" >&2
  echo "build: failed; the whole output is in $log" >&2
  exit 1
fi
echo "build: done in $((SECONDS - start)) s"

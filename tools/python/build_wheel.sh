#!/usr/bin/env bash
# Builds the wheel heedgrad-VERSION-py3-none-manylinux_2_36_*.whl: the program, both libraries, OpenBLAS and what else they
# need beyond glibc and libstdc++, headers, and the Python package in tools/python/heedgrad. Nothing in it is compiled
# against Python.
#   tools/python/build_wheel.sh                          into build/wheel, from build/portable, which is built first
#   tools/python/build_wheel.sh --out DIR                into DIR
#   tools/python/build_wheel.sh --build build/arm64      from a portable build that is there (tools/setup/arm64.sh)
# The same build gives the same wheel, byte for byte. On Debian 12 only: libraries of a newer system ask for a newer glibc.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=build/wheel
build=
while [ $# -gt 0 ]; do
  case "$1" in
    --out | --build) [ $# -ge 2 ] && declare "${1#--}=$2" && shift 2 && continue ;;
  esac
  echo "usage: tools/python/build_wheel.sh [--out DIR] [--build DIR]" >&2
  exit 2
done

tools/setup.sh --wheel
if [ -z "$build" ]; then
  build=build/portable
  mkdir -p $build
  { cmake --preset portable && cmake --build --preset portable -j"$(nproc)" --target programs; } >$build/build.log 2>&1 ||
    { grep -nE -A 3 '[Ee]rror' $build/build.log | head -n 40 >&2; echo "wheel: failed; see $build/build.log" >&2; exit 1; }
fi

staged=$(mktemp -d)
trap 'rm -rf "$staged"' EXIT
cmake --install "$build" --prefix "$staged/native" --strip >/dev/null
python3 tools/python/wheel.py "$staged/native" --unpacked "$build/debian" --out "$out"

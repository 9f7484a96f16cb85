#!/usr/bin/env bash
# Installs packages, builds everything and runs the tests. Arguments go to ctest: tools/test.sh -R autograd/ops
#   tools/test.sh --all ...    those labelled slow too: together they take as long as all others
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
tools/build.sh
preset=release
if [ "${1:-}" = --all ]; then
  preset=all
  shift
fi
ctest --preset "$preset" -j"$(nproc)" --no-label-summary "$@"

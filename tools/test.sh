#!/usr/bin/env bash
# Installs packages, builds everything and runs all tests. Arguments go to ctest: tools/test.sh -R autograd/ops
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
tools/build.sh
ctest --preset release -j"$(nproc)" --no-label-summary "$@"

#!/usr/bin/env bash
# The tests of the Python package, its types and its coverage, in an environment of their own.
#   tests/tools/python/run.sh [--heed PROGRAM] [PYTEST ARGUMENTS...]
# Needs python3-venv, and a package index for what the tests use. PYTHON names the interpreter.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
heed="$root/build/release/heed"
if [ "${1:-}" = --heed ]; then
  heed=$(realpath "$2")
  shift 2
fi
environment="${HEEDGRAD_TEST_ENVIRONMENT:-$root/build/python}"
if [ ! -x "$environment/bin/pytest" ]; then
  "${PYTHON:-python3}" -m venv "$environment"
  "$environment/bin/pip" install -q numpy safetensors tqdm pandas gguf tensorboardX tensorboard nbclient ipykernel \
    pytest pytest-cov mypy
fi
export HEED="$heed" COVERAGE_FILE="$environment/coverage"
cd "$root"
MYPYPATH=tools/python:tests/tools/python "$environment/bin/mypy" --config-file tools/python/pyproject.toml \
  --ignore-missing-imports --cache-dir "$environment/mypy" tools/python/heedgrad tests/tools/python/*.py
exec "$environment/bin/pytest" -q -p no:cacheprovider --cov=tools/python/heedgrad --cov-report=term-missing \
  --cov-fail-under=95 tests/tools/python "$@"

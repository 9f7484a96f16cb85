#!/usr/bin/env bash
# old_cpu.sh BUILD KIND: this build on a CPU without AVX, emulated by qemu-x86_64. One for this machine (native) says in
# one sentence that it needs another CPU; a portable one runs, and passes the tests of its kernels.
set -euo pipefail
build=$1 kind=$2
if ! command -v qemu-x86_64 >/dev/null; then
  echo "old CPU: skipped, there is no qemu-x86_64 (Debian: qemu-user)"
  exit 77
fi
fail() { echo "old CPU: $*" >&2; exit 1; }
old() { qemu-x86_64 -cpu Nehalem "$@"; }

if [[ $kind == native ]]; then
  for program in heed heed-f64; do
    code=0
    said=$(old "$build/$program" --version 2>&1) || code=$?
    [[ $code == 1 && $said == "heed: this program was built for CPUs with "*", which this one lacks; "* ]] ||
      fail "$program ended with $code: $said"
    [[ $(wc -l <<<"$said") == 1 ]] || fail "more than a line: $said"
  done
  exit
fi
if old "$build/heed" --help | grep -q '^  info '; then  # of the extra bench
  old "$build/heed" info --json >"$build/old_cpu.json" || fail "heed info fails"
  grep -q '"simd": "SSE2"' "$build/old_cpu.json" || fail "loops for a newer CPU"
  grep -q '"vector-128"' "$build/old_cpu.json" || fail "no kernel of our own"
  ! grep -q '"vector-256"' "$build/old_cpu.json" || fail "a kernel for a newer CPU"
fi
export HEED_BUILD_DIR=$build OMP_WAIT_POLICY=passive
for program in heed_tests heed_tests_f64; do
  [[ ! -x $build/$program ]] || old "$build/$program" --source-file='*autograd/kernels/*' >"$build/old_cpu.log" ||
    fail "$program: $(tail -n 20 "$build/old_cpu.log")"
done

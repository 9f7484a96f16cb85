#!/usr/bin/env bash
# Builds the fuzz targets (Clang, libFuzzer, sanitizers: the preset fuzz) and runs each for a while, beginning with
# its corpus and what earlier runs found. Exits with 1 when one of them crashes; the input is then in build/fuzz/found.
#   tests/fuzz/run.sh                    60 seconds each, as many at once as there are cores: 3 minutes on two, and the build
#   tests/fuzz/run.sh 600 config text    10 minutes each, these targets
#   tests/fuzz/run.sh 10000000x          10 million runs each: four hours on two cores
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
source_dir=$PWD
cores=$(nproc)  # before OMP_NUM_THREADS, which nproc heeds, is set
amount=${1:-60}
case $amount in
  *x) limit=-runs=${amount%x} ;;
  *) limit=-max_total_time=$amount ;;
esac
shift || true
targets=("$@")
if [ ${#targets[@]} -eq 0 ]; then
  while read -r file; do
    name=$(basename "$file" .cpp)
    targets+=("${name#fuzz_}")
  done < <(find tests/fuzz layers/extras train/extras tools/extras -name 'fuzz_*.cpp' | sort)
fi

# HEED_BUILT: the programs are there already.
if [ -z "${HEED_BUILT:-}" ]; then
  mkdir -p build
  cmake --preset fuzz >build/fuzz.log 2>&1 && cmake --build --preset fuzz --target fuzzers -j"$(nproc)" >>build/fuzz.log 2>&1 ||
    { tail -n 40 build/fuzz.log; echo "fuzz: the build failed" >&2; exit 1; }
fi

# Targets that write files do so in memory, where there is such a place.
[ -w /dev/shm ] && export TMPDIR=/dev/shm
export OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1
# Inputs are small: freed memory needs not be kept back for long, and two callers of each allocation are enough to find
# the input that is at fault. Run by itself, the program says more.
export ASAN_OPTIONS=detect_leaks=1:allocator_may_return_null=0:malloc_context_size=2:quarantine_size_mb=1:thread_local_quarantine_size_kb=16
export LSAN_OPTIONS=suppressions=$source_dir/tests/support/leaks.txt:print_suppressions=0
export UBSAN_OPTIONS=print_stacktrace=1

# One target, from its corpus, what earlier runs found and, for configs, the shipped ones. Says how it went.
fuzz() {
  local name=$1 corpus=$source_dir/build/fuzz/corpus/$1 log=build/fuzz/found/$1.log begun=$SECONDS
  mkdir -p "$corpus"
  [ "$name" != config ] || cp configs/*.yaml */extras/*/configs/*.yaml "$corpus"
  # -entropic: keeping its account of rare features costs more than the runs themselves.
  local options=("$limit" -entropic=0 -reload=0 -max_len=4096 -timeout=60 -rss_limit_mb=2048 -malloc_limit_mb=512
                 -print_final_stats=1 -artifact_prefix="$source_dir/build/fuzz/found/$name-")
  # What the commands print would take most of the time.
  case $name in command_line | run_folder) options+=(-close_fd_mask=3) ;; esac
  [ ! -f "tests/fuzz/$name.dict" ] || options+=(-dict="tests/fuzz/$name.dict")
  if build/fuzz/fuzz_"$name" "${options[@]}" "$corpus" "$source_dir/tests/fuzz/corpus/$name" >"$log" 2>&1; then
    echo "fuzz: $name: $(grep -o 'number_of_executed_units: .*' "$log" | grep -o '[0-9]*') runs in $((SECONDS - begun)) s, no crash"
  else
    tail -n 40 "$log"
    echo "fuzz: $name: failed; the input is $(ls -t build/fuzz/found/"$name"-* 2>/dev/null | head -n 1)" >&2
    return 1
  fi
}

mkdir -p build/fuzz/found
failed=build/fuzz/found/failed
rm -f "$failed"
for name in "${targets[@]}"; do
  # As many at once as there are cores.
  while [ "$(jobs -pr | wc -l)" -ge "$cores" ]; do wait -n || true; done
  { fuzz "$name" || touch "$failed"; } &
done
wait
[ ! -e "$failed" ]

#!/usr/bin/env bash
# Trains a small model in one process and in several that MPI connects, and compares what they leave: weights,
# optimizer, random streams and samples byte for byte, metrics.csv in all but the seconds.
#
#   train/extras/processes/tests/mpi_test.sh [--heed PROGRAM] [--mpirun PROGRAM] [--processes "2 3 4"] [--kills N]
#
#   --processes   the numbers of processes (2)
#   --kills       a random process is killed N times at a random moment (0), and the run resumed with another number
#                 of processes, until its bytes are compared, too
#   --mpirun      of the MPI that libheedgrad-mpi.so next to the program was built with
# Exit code 0 when all is as it should be, 77 where MPI is missing.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../../.." && pwd)
heed=$root/build/release/heed
mpirun=mpirun
processes="2"
kills=0
while (($#)); do
  case $1 in
    --heed) heed=$(realpath "$2") ;;
    --mpirun) mpirun=$2 ;;
    --processes) processes=$2 ;;
    --kills) kills=$2 ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift 2
done
if ! command -v "$mpirun" >/dev/null || [[ ! -e $(dirname "$heed")/libheedgrad-mpi.so ]]; then
  echo "mpi test: skipped, there is no mpirun or no libheedgrad-mpi.so (Debian: openmpi-bin libopenmpi-dev)"
  exit 77
fi
export OMP_WAIT_POLICY=passive  # more processes than cores
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe  # the same for Open MPI 5

work=$(mktemp -d)
job=
clean_up() {
  [[ -z $job ]] || kill "$job" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
fail() {
  echo "mpi test: $*" >&2
  [[ ! -s $work/said ]] || tail -n 20 "$work/said" >&2
  exit 1
}

for ((i = 0; i < 100; ++i)); do printf 'Attention is all you need, line %d.\n' "$i"; done >"$work/text.txt"
cat >"$work/c.yaml" <<'YAML'
seed: 7
random: {dropout_stream: mt19937}
data: {type: text, path: text.txt, sampling: windows}
model: {type: gpt, context_length: 16, d_model: 24, num_heads: 2, num_layers: 2, dropout: 0.2}
optimizer: {type: adamw, lr: 3e-3}
schedule: {type: cosine, warmup_steps: 2}
train: {steps: 12, batch_size: 2, accumulate: 8, shards: 4, clip_grad_norm: 1.0, log_every: 2}
eval: {every: 5, batches: 5}
checkpoint: {every: 4, keep: 2, best: true}
sample: {every: 6, tokens: 8}
YAML

# No program but the library of its own is linked with MPI.
for file in "$heed" "$(dirname "$heed")/libheedgrad.so"; do
  ! ldd "$file" | grep -q libmpi || fail "$file is linked with MPI"
done

rows() { cut -d, -f1-6,8 "$1/metrics.csv"; }
compare() {  # A B
  local last file
  last=checkpoints/$(ls "$1/checkpoints" | grep step- | tail -n 1)
  for file in "$last"/{model,optimizer,state}.safetensors "$last/config.yaml" samples.txt; do
    cmp "$1/$file" "$2/$file" || fail "$2/$file is not that of a single process"
  done
  diff <(rows "$1") <(rows "$2") >&2 || fail "$2/metrics.csv is not that of a single process"
}

"$heed" train "$work/c.yaml" --out "$work/one" >"$work/said" 2>&1 || fail "a single process ended with $?"
for n in $processes; do
  "$mpirun" -n "$n" "$heed" train "$work/c.yaml" --out "$work/of-$n" >"$work/said" 2>&1 </dev/null ||
    fail "$n processes ended with $?"
  ((n == 1)) || grep -q "^processes  $n: " "$work/said" || fail "the plan does not say that there are $n processes"
  compare "$work/one" "$work/of-$n"
done
code=0
"$mpirun" -n 5 "$heed" train "$work/c.yaml" --out "$work/many" >"$work/said" 2>&1 </dev/null || code=$?
grep -q "5 processes were started, expected at most train.shards = 4" "$work/said" && [[ $code == 2 && ! -e $work/many ]] ||
  fail "more processes than shards: exit code $code"
echo "mpi test: $processes processes give the bytes of one"

# What `mpirun -n 1 A : -n 1 B` does, with which that of Open MPI 5.0.7 crashes, whatever A and B are:
# mpirun -n 2 by_rank A --others B
cat >"$work/by_rank" <<'SH'
#!/usr/bin/env bash
first=()
while [ $# -gt 0 ] && [ "$1" != --others ]; do
  first+=("$1")
  shift
done
shift
[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" = 0 ] || exec "$@"
exec "${first[@]}"
SH
chmod +x "$work/by_rank"

# Processes that differ are refused, and the message names both.
differ() {  # NAME PATTERN COMMAND of the second process
  local name=$1 pattern=$2 code=0
  shift 2
  "$mpirun" -n 2 "$work/by_rank" "$heed" train "$work/c.yaml" --out "$work/differ" --others "$@" >"$work/said" 2>&1 </dev/null || code=$?
  grep -qE "^the processes differ in $pattern; the bits would not" "$work/said" && [[ $code == 2 ]] &&
    [[ ! -e $work/differ ]] || fail "processes that differ in $name: exit code $code"
}
first="on rank 0 on [^ ]+" second="on rank 1 on [^ ]+"
differ config "optimizer.lr: 0.003 $first, 0.001 $second" "$heed" train "$work/c.yaml" --set optimizer.lr=1e-3
mkdir "$work/other"
cp "$work/c.yaml" "$work/other/c.yaml"
sed '50s/all/ALL/' "$work/text.txt" >"$work/other/text.txt"
differ data "data.fingerprint: xxh64:.* $first, xxh64:.* $second" "$heed" train "$work/other/c.yaml"
cp "$heed" "$(dirname "$heed")"/libheedgrad{,-mpi}.so "$work/other"
echo >>"$work/other/libheedgrad.so"
differ build "libheedgrad: xxh64:.* $first, xxh64:.* $second" "$work/other/heed" train "$work/c.yaml"
# Another version: that of this one is written over wherever the program and its libraries have it.
version=$("$heed" --version)
version=${version##* }
LC_ALL=C sed -i "s/${version//./\\.}/${version//[0-9]/9}/g" "$work/other"/{heed,libheedgrad.so,libheedgrad-mpi.so}
differ version "heedgrad: $version $first, ${version//[0-9]/9} $second" "$work/other/heed" train "$work/c.yaml"
differ kernels "(HEED_KERNELS: nothing|kernels: .*) $first, .*$second" env HEED_KERNELS=openblas "$heed" train "$work/c.yaml"
differ "new and resumed" "their command: heed train $first, heed train --resume $second" \
  "$heed" train --resume "$work/one"
differ command "their command: heed train $first, heed bench $second" "$heed" bench "$work/c.yaml"
echo "mpi test: processes that differ are refused"

now() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }  # milliseconds
if ((kills)); then
  long=(--set train.steps=1500 --set checkpoint.every=50)
  "$heed" train "$work/c.yaml" "${long[@]}" --out "$work/whole" >"$work/said" 2>&1
  begin=$(now)
  "$mpirun" -n 2 "$heed" train "$work/c.yaml" "${long[@]}" --out "$work/killed" >"$work/said" 2>&1 </dev/null
  length=$(($(now) - begin))
  done=0
  slowest=0
  while ((done < kills)); do
    if [[ -e $work/killed/checkpoints/step-001500 ]]; then
      compare "$work/whole" "$work/killed"
      rm -rf "$work/killed"
    fi
    arguments=("$work/c.yaml" "${long[@]}" --out "$work/killed")
    [[ ! -e $work/killed/config.yaml ]] || arguments=(--resume "$work/killed")
    [[ -e $work/killed/config.yaml ]] || rm -rf "$work/killed"
    "$mpirun" -n $((1 + RANDOM % 4)) "$heed" train "${arguments[@]}" >"$work/said" 2>&1 </dev/null &
    job=$!
    delay=$((length / 4 + RANDOM % length))
    sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
    mapfile -t ranks < <(pgrep -f "^$heed train .*$work/killed" || true)
    begin=$(now)
    ((${#ranks[@]} == 0)) || kill -9 "${ranks[RANDOM % ${#ranks[@]}]}" 2>/dev/null || true
    wait "$job" && code=0 || code=$?
    job=
    took=$(($(now) - begin))
    ! pgrep -f "^$heed train .*$work/killed" >/dev/null || fail "processes are left"
    if ((code != 0)); then
      ((took <= 10000)) || fail "the other processes ended after $took ms"
      ((done += 1))
      slowest=$((took > slowest ? took : slowest))
    fi
  done
  "$mpirun" -n 2 "$heed" train --resume "$work/killed" >"$work/said" 2>&1 </dev/null || fail "resume ended with $?"
  compare "$work/whole" "$work/killed"
  echo "mpi test: a process killed $done times, all ended within $slowest ms, resumed with other numbers: all bytes equal"
fi

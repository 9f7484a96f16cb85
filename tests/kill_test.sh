#!/usr/bin/env bash
# Trains a small model while it is ended again and again at random moments, resumes it each time, and
# compares what is left with a run that nobody disturbed: weights, optimizer, state and samples
# byte for byte, metrics.csv in all but the seconds.
#
#   tests/kill_test.sh [--times N] [--heed PROGRAM] [kill] [term] [pipe] [hup] [limit] [full]
#
#   kill   SIGKILL, N times (200 unless told otherwise)
#   term   SIGTERM, N / 4 times: exit code 130
#   pipe   SIGINT to heed and to the `tee` that reads its output, as Ctrl-C in a terminal, N / 10 times: 130
#   hup    SIGHUP, as a terminal that is closed, N / 10 times: 130
#   limit  a limit on the size of files, N / 4 times: exit code 1 and the reason
#   full   a file system of 2 MB that fills up, N / 4 times: exit code 1 and the reason (needs the right
#          to mount a tmpfs; left out with a word otherwise)
# Without names: all six. Exit code 0 when all is as it should be.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
heed=$root/build/release/heed
times=200
kinds=()
while (($#)); do
  case $1 in
    --times) times=$2; shift ;;
    --heed) heed=$(realpath "$2"); shift ;;
    kill | term | pipe | hup | limit | full) kinds+=("$1") ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2 ;;
  esac
  shift
done
((${#kinds[@]})) || kinds=(kill term pipe hup limit full)
export OMP_WAIT_POLICY=passive  # many short processes: waiting threads must not take the cores from others

work=$(mktemp -d)
mounted=
job=
clean_up() {
  [[ -z $job ]] || kill -9 -- "$job" 2>/dev/null || true
  [[ -z $mounted ]] || umount "$mounted" 2>/dev/null || true
  rm -rf "$work"
}
trap clean_up EXIT
fail() {
  echo "kill test: $*" >&2
  [[ ! -s $work/said ]] || tail -n 20 "$work/said" >&2
  exit 1
}
now() { local t=${EPOCHREALTIME/[.,]/}; echo $((t / 1000)); }  # milliseconds

for ((i = 0; i < 100; ++i)); do printf 'Attention is all you need, line %d.\n' "$i"; done >"$work/text.txt"
cat >"$work/c.yaml" <<'YAML'
seed: 7
data: {type: text, path: text.txt, sampling: windows}
model: {type: gpt, context_length: 16, d_model: 24, num_heads: 2, num_layers: 2, dropout: 0.2}
optimizer: {type: adamw, lr: 3e-3}
schedule: {type: cosine, warmup_steps: 20}
train: {steps: 300, batch_size: 4, accumulate: 2, clip_grad_norm: 1.0, log_every: 2}
eval: {every: 20, batches: 2}
checkpoint: {every: 4, keep: 2, best: true}
sample: {every: 30, tokens: 8}
YAML

# Starts or resumes the run in $1. Before there is a config.yaml there is nothing to resume. Every other process
# computes with another number of threads.
train() {
  local arguments=(--resume "$1")
  if [[ ! -e $1/config.yaml ]]; then
    rm -rf "$1"
    arguments=("$work/c.yaml" --out "$1")
  fi
  exec "$heed" train "${arguments[@]}" --threads $((1 + RANDOM % 3))
}
# In the background, as $job.
launch() {
  train "$1" >"$work/said" 2>&1 &
  job=$!
}
# Waits for $job; its exit code is in $code.
finish() {
  code=0
  wait "$job" 2>/dev/null || code=$?
  job=
}

rows() { cut -d, -f1-6 "$1/metrics.csv"; }
compare() {
  local last=checkpoints/step-000300 file
  for file in $last/{model,optimizer,state}.safetensors $last/config.yaml samples.txt; do
    cmp "$work/whole/$file" "$1/$file" || fail "$1/$file is not that of the undisturbed run"
  done
  diff <(rows "$work/whole") <(rows "$1") >&2 || fail "$1/metrics.csv is not that of the undisturbed run"
  [[ -z $(find "$1" -name '.heed-tmp-*') ]] || fail "$1 has temporary files left: $(find "$1" -name '.heed-tmp-*')"
}

begin=$(now)
launch "$work/whole"
finish
((code == 0)) || fail "the undisturbed run ended with $code"
whole=$(($(now) - begin))
begin=$(now)
"$heed" train --resume "$work/whole" >/dev/null 2>&1
startup=$(($(now) - begin))
echo "undisturbed: 300 steps in $whole ms, of which $startup to start"

# disturb KIND COUNT: a run ended COUNT times and then left to end by itself. One that comes to its end sooner is
# compared, and another one begun.
disturb() {
  local kind=$1 count=$2 done=0 runs=1 run=${3:-$work}/$1-1
  while ((done < count)); do
    "end_by_$kind" "$run" $((startup + (whole - startup) / count))
    if ((code != 0)); then
      ((done += 1))
    elif [[ -e $run/checkpoints/step-000300 ]]; then
      compare "$run"
      rm -rf "$run"
      ((runs += 1))
      run=${3:-$work}/$kind-$runs
    fi
  done
  launch "$run"
  finish
  ((code == 0)) || fail "$kind: the last process ended with $code"
  compare "$run"
  echo "$kind: ended $done times in $runs run(s), $(($(now) - begin)) ms: all bytes equal"
  begin=$(now)
  rm -rf "$run"
}

# Sleeps for up to $1 milliseconds.
sleep_up_to() {
  local delay=$((RANDOM * $1 / 32768))
  sleep "$((delay / 1000)).$(printf '%03d' $((delay % 1000)))"
}
# Sends signal $1 to the run in $2 after up to $3 milliseconds.
end_by_signal() {
  launch "$2"
  sleep_up_to "$3"
  kill "-$1" "$job" 2>/dev/null || true
  finish
}
end_by_kill() {
  end_by_signal KILL "$@"
  ((code == 0 || code == 137)) || fail "resume after a kill ended with $code"
}
# The process that signal $1 was to end was ended by it ($2: before training began, when there is nothing to save),
# or says in file $3 that it has saved.
expect_saved() {
  ((code == 0 || code == 130 || code == $2)) || fail "$1 ended with $code"
  if ((code == 130)); then
    grep -q 'saved; go on with' "$3" || fail "$1: not a word on how to go on"
  fi
}
end_by_term() {
  end_by_signal TERM "$@"
  expect_saved SIGTERM 143 "$work/said"
}
end_by_hup() {
  end_by_signal HUP "$@"
  expect_saved SIGHUP 129 "$work/said"
}
# In a process group of its own, which gets the signal as a whole. `tee` ends at once; what heed says after that is
# only in its log. The shell that writes the exit code waits for heed, or is ended with it before training begins.
end_by_pipe() {
  rm -f "$work/code"
  local before
  before=$(grep -c 'saved; go on with' "$1/log.txt" 2>/dev/null) || true
  set -m
  { (train "$1"); echo $? >"$work/code"; } 2>&1 | tee "$work/said" >/dev/null &
  set +m
  job=-$(jobs -p %+)
  sleep_up_to "$2"
  kill -INT -- "$job" 2>/dev/null || true
  wait 2>/dev/null || true
  job=
  code=$(cat "$work/code" 2>/dev/null || echo 143)
  ((code == 0 || code == 130 || code == 143)) || fail "SIGINT | tee ended with $code"
  if ((code == 130)); then
    (($(grep -c 'saved; go on with' "$1/log.txt") == ${before:-0} + 1)) || fail "SIGINT | tee: not saved"
  fi
}

# A file that cannot be written ends the process with 1; the message names the reason. Then it gets on a little.
expect_reason() {
  ((code == 0 || code == 1)) || fail "$1: ended with $code"
  if ((code == 1)); then
    grep -q "$2" "$work/said" || fail "$1: the message does not give the reason: $2"
  fi
}
end_by_limit() {
  local blocks=$((4 + RANDOM % 126))  # of 1024 bytes; what the run says needs 4, the optimizer 130
  launch_limited() { ulimit -f "$blocks"; launch "$@"; finish; exit "$code"; }
  code=0
  (launch_limited "$1") || code=$?
  expect_reason limit 'File too large'
  get_on "$@"
}
end_by_full() {
  local space=$((RANDOM % 500))
  rm -f "$mounted/filler"
  local free
  free=$(df -k --output=avail "$mounted" | tail -n 1)
  ((free <= space)) || head -c "$(((free - space) * 1024))" /dev/zero >"$mounted/filler"
  launch "$1"
  finish
  expect_reason full 'No space left on device'
  rm -f "$mounted/filler"
  get_on "$@"
}
# The run goes on undisturbed for a while; what ended it before counts.
get_on() {
  local before=$code
  ((before != 0)) || return 0
  end_by_term "$@"
  code=$before
}

begin=$(now)
for kind in "${kinds[@]}"; do
  case $kind in
    kill) disturb kill "$times" ;;
    pipe | hup) disturb "$kind" $(((times + 9) / 10)) ;;
    term | limit) disturb "$kind" $(((times + 3) / 4)) ;;
    full)
      mkdir -p "$work/small"
      if mount -t tmpfs -o size=2m tmpfs "$work/small" 2>/dev/null; then
        mounted=$work/small
        disturb full $(((times + 3) / 4)) "$mounted"
      else
        echo "full: left out, no right to mount a tmpfs"
      fi
      ;;
  esac
done

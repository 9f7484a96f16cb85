#!/usr/bin/env bash
# Five minutes for an expert: seven claims, each with its commands, what they print and what is
# expected, and a verdict.
#
#   tools/proof.sh [BUILD]     BUILD: the folder of heed and heed-f64 (default: build/release)
#
# Rows 3 and 7 ask transformers and PyTorch, where $PYTHON (python3) has them. Without them row 3
# compares with values that they gave (tests/golden), and row 7 is skipped. The exit code is 0 if no
# row fails. Nothing is left behind.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
[[ ${1:-} != -* ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"; exit 2; }
build=$(realpath -m "${1:-$root/build/release}")
for program in heed heed-f64; do
  [ ! -x "$build/$program" ] || continue
  echo "proof: $build/$program is not built; type: tools/build.sh programs" >&2
  exit 2
done
python=${PYTHON:-python3} asking=$root/tools/reference/proof.py
# Threads that wait sleep: row 1 has more of them than some machines have cores.
export PATH="$build:$PATH" PYTHONDONTWRITEBYTECODE=1 OMP_WAIT_POLICY=passive
work=$(mktemp -d) job=
trap '[ -z "$job" ] || kill -9 "$job"; rm -rf "$work"' EXIT
cd "$work" || exit

rows=0 held=0 failed='' skipped=''
# row CLAIM FUNCTION EXPECTED: the function returns 0 if the claim holds, 77 if $lacks is missing.
row() {
  printf '\n%d  %s\n' $((++rows)) "$1"
  "$2"
  local code=$? verdict=FAILED
  case $code in
    0) verdict=holds; ((++held)) ;;
    77) verdict="skipped: no $lacks"; skipped+="; row $rows $verdict" ;;
    *) failed+="; row $rows FAILED"; tail -n 20 said | sed 's/^/   | /' ;;
  esac
  printf '   expected  %s\n   %s\n' "$3" "$verdict"
}
show() { printf '   $'; printf ' %q' "$@"; echo; }
run() { show "$@"; "$@" >said 2>&1; }
prints() { sed '1s/^/   prints    /; 1!s/^/             /' <<<"$*"; }
same() { [ -n "$1" ] && [ "$1" = "$2" ]; }
at_most() { awk -v a="$1" -v most="$2" 'BEGIN { exit !(a != "" && a + 0 <= most) }'; }
# The first of these modules of Python that is missing becomes $lacks.
missing() {
  for lacks; do "$python" -c "import $lacks" 2>/dev/null || return 0; done
  return 1
}

training=(heed train quickstart --set model.dropout=0.1 --set train.batch_size=4
  --set train.steps=400 --set checkpoint.every=50)
hash() { sha256sum <"$1/checkpoints/step-000400/model.safetensors" | cut -c -32; }

same_bits() {
  local n
  for n in 1 2 5; do
    run "${training[@]}" --threads $n --out threads-$n && grep -q "^threads *$n on" said || return
    prints "$(hash threads-$n)"
  done
  same "$(hash threads-1)" "$(hash threads-2)" && same "$(hash threads-1)" "$(hash threads-5)"
}

killed() {
  local code=0
  show "${training[@]}" --threads 2 --out killed
  "${training[@]}" --threads 2 --out killed >said 2>&1 &
  job=$!
  until grep -qs '^130,' killed/metrics.csv || ! kill -0 $job 2>/dev/null; do sleep 0.02; done
  show kill -9 $job
  kill -9 $job 2>/dev/null
  wait $job 2>/dev/null || code=$?
  job=
  prints "exit code $code, after step $(tail -n 1 killed/metrics.csv | cut -d , -f 1) of 400;" \
    "the last checkpoint is $(ls killed/checkpoints | tail -n 1)"
  [ $code = 137 ] && [ ! -e killed/checkpoints/step-000400 ] || return
  run heed train --resume killed --threads 3 || return
  prints "$(hash killed)"
  same "$(hash killed)" "$(hash threads-2)"
}

# tensor FILE NAME: its bytes. A safetensors file: 8 bytes of length, a header in JSON, the data.
tensor() {
  local length header
  length=$(od -A n -t u8 -N 8 "$1")
  header=$(head -c $((8 + length)) "$1" | tail -c +9)
  [[ $header =~ \"$2\":\{[^\}]*\"data_offsets\":\[([0-9]+),([0-9]+) ]] || return
  tail -c +$((9 + length + BASH_REMATCH[1])) "$1" | head -c $((BASH_REMATCH[2] - BASH_REMATCH[1]))
}
logits() {
  if ! missing torch transformers; then
    run heed export threads-2 exported && run "$python" "$asking" logits threads-2 exported &&
      prints "$(cat said)"
    return
  fi
  local golden=$root/tests/golden/hugging_face/gpt2 worst
  local header='{"ids":{"dtype":"I64","shape":[2,6],"data_offsets":[0,96]}}'
  {
    printf '%b%s' "\\x$(printf %x ${#header})\0\0\0\0\0\0\0" "$header"
    tensor "$golden/expected.safetensors" ids
  } >ids.safetensors
  run heed import "$golden" --out imported &&
    run heed forward imported --in ids.safetensors --out y.safetensors || return
  worst=$(paste <(tensor y.safetensors y | od -A n -v -w4 -t f4) \
    <(tensor "$golden/expected.safetensors" y | od -A n -v -w8 -t f8) |
    awk '{ d = $1 < $2 ? $2 - $1 : $1 - $2; if (!(d <= worst)) worst = d }
         END { if (NR == 2 * 6 * 13) printf "%.1e", worst }')
  prints "no $lacks; beside the logits in expected.safetensors: largest difference $worst"
  at_most "$worst" 1e-5
}

mistakes() {
  cat >nanogpt.yaml <<YAML
data: {type: text, path: "$root/configs/data/tinyshakespeare.txt"}
model: {type: gpt}
train: {batch_size: 12}
n_layer: 4             # model.num_layers
n_head: 4              # model.num_heads
n_embd: 128            # model.d_model
block_size: 64         # model.context_length
max_iters: 2000        # train.steps
learning_rate: 1e-3    # optimizer.lr
grad_clip: 1.0         # train.clip_grad_norm
eval_interval: 250     # eval.every
YAML
  local code=0 named=0 line key value name
  run heed train nanogpt.yaml || code=$?
  while IFS=': #' read -r line key value name; do
    ! grep -q "^nanogpt.yaml:$line:1: $key: .*$name" said || ((++named))
  done < <(grep -n '#' nanogpt.yaml)
  prints "$(cat said; echo "exit code $code, $named of 8 with their places")"
  [ "$code $named" = '2 8' ] && [ ! -e runs ]
}

microgpt() {
  local begin=${EPOCHREALTIME/[.,]/} seconds mb
  run heed train microgpt --out microgpt || return
  seconds=$(awk -v us=$((${EPOCHREALTIME/[.,]/} - begin)) 'BEGIN { printf "%.2f", us / 1e6 }')
  mb=$(sed -n 's/^memory *peak \([0-9.]*\) MB.*/\1/p' said)
  prints "$(sed -n 's/^model *//p' said); 1,000 steps in $seconds s, $mb MB"
  at_most "$seconds" 5 && at_most "$mb" 50
}

gradients() {
  local code=0 check=(heed --plugin mine/build/libright.so gradcheck)
  run heed gradcheck gpt || return
  prints "$(grep 'gradient elements' said)"
  run heed new op right --dir mine && run heed new op wrong --dir mine &&
    run sed -i s/1.-.v/1+v/ mine/wrong.h && grep -q 'return 1+v;' mine/wrong.h &&
    run cmake -S mine -B mine/build -DCMAKE_PREFIX_PATH="$build" &&
    run cmake --build mine/build --target right-f64 &&
    run "${check[@]}" right_layer || return
  prints "$(grep 'gradient elements' said)"
  run "${check[@]}" wrong_layer || code=$?
  prints "$(grep -m 1 '^FAILED.*central difference' said)"
  [ $code = 1 ] && grep -q '^FAILED wrong_layer.* W_gate.*central difference' said
}

losses() {
  ! missing torch yaml || return 77
  run heed train shakespeare_char --set train.steps=20 --set train.log_every=1 --out losses &&
    run "$python" "$asking" losses losses && prints "$(cat said)"
}

echo "$(heed --version), $(nproc) CPUs; \`heed\` is $build/heed"
row 'The same bits on any number of threads' same_bits 'one hash of the weights'
row 'kill -9 loses nothing, and other threads may go on' killed \
  'exit code 137 before the end, then the hash of row 1'
row 'The logits of transformers' logits 'at most 1e-5 apart in float32'
row "A config in nanoGPT's words: each mistake is named with its place" mistakes \
  'eight of eight, exit code 2, nothing trained'
row "microgpt's shape: one block, 16 wide, 1,000 steps of a document each" microgpt \
  'at most 5 s and 50 MB'
row 'Gradients are right, and a wrong one is found' gradients \
  'none failed; none failed; FAILED, at the weight that it reaches'
row "PyTorch's losses from the same seed, and the time of a step" losses \
  'at most 1e-5 apart, in less time'
printf '\nproof: %d of %d rows hold%s%s (%d s)\n' $held $rows "$failed" "$skipped" $SECONDS
[ -z "$failed" ]

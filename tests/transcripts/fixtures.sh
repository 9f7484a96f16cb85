# What transcripts share: functions of bash that write files and compare. Read before the first
# command.

# text.txt, 2,466 characters of which 21 differ, and c.yaml, which trains on it in a moment.
small() {
  local i
  for i in {0..99}; do
    ((i % 3 == 0)) && echo 'Every effort moves you.' || echo 'Attention is all we need'
  done >text.txt
  cat >c.yaml <<'YAML'
seed: 5
data: {type: text, path: text.txt, train_fraction: 0.8}
model: {type: gpt, context_length: 8, d_model: 12, num_heads: 3, num_layers: 1}
optimizer: {type: adamw, lr: 1e-2}
train: {steps: 12, batch_size: 4, log_every: 4}
YAML
}

# FILE.safetensors with tensors NAME:DTYPE:SHAPE of zeros, or NAME:DTYPE:SHAPE:BYTES, which are
# repeated, as printf writes them: x:F32:8,3,4
tensors() {
  local file=$1 entry name dtype shape bytes each header='' begin=0 count
  shift
  : >"$file.data"
  for entry; do
    IFS=: read -r name dtype shape bytes <<<"$entry"
    case $dtype in BOOL | U8) count=1 ;; *) count=4 ;; esac
    for each in ${shape//,/ }; do ((count *= each)); done
    if [ -z "$bytes" ]; then
      head -c $count /dev/zero
    else
      for ((each = 0; each < count; each += $(printf "$bytes" | wc -c))); do printf "$bytes"; done
    fi >>"$file.data"
    header+="${header:+,}\"$name\":{\"dtype\":\"$dtype\",\"shape\":[$shape],"
    header+="\"data_offsets\":[$begin,$((begin += count))]}"
  done
  header="{$header}"
  { little_endian ${#header} && printf %s "$header" && cat "$file.data"; } >"$file"
  rm "$file.data"
}

# A number in 64 bits.
little_endian() {
  local bit
  for ((bit = 0; bit < 64; bit += 8)); do printf "\\x$(printf %x $(($1 >> bit & 255)))"; done
}

# The first value of a key in JSON on standard input.
value() { grep -o "\"$1\":[^],}]*" | head -n 1 | cut -d: -f2-; }

# Two numbers differ by a share of at most $3, 1e-6 if it is left out; says both where they do not.
near() {
  awk -v a="$1" -v b="$2" -v most="${3:-1e-6}" \
    'BEGIN { if (a == "" || (a - b) ^ 2 > (most * a) ^ 2) print a, "and", b }'
}

# The rows of a run without their seconds.
rows() { cut -d, -f1-6,8- "$1/metrics.csv"; }

# copy.yaml, a small model of two sequences.
copying() {
  cat >copy.yaml <<'YAML'
data: {type: copy, length: 5, min_length: 3, symbols: 12}
model: {type: encoder_decoder, d_model: 8, num_heads: 2, num_layers: 1}
train: {steps: 2, batch_size: 4}
sample: {every: 1, prompt: "11 2 3"}
YAML
}

#!/usr/bin/env bash
# train_all.sh HEED PLUGIN: trains all.yaml, and once more in two parts, which must end with the same bits; evaluates;
# and, where this heed can, reports.
set -euo pipefail
heed=$1 plugin=$2
config=$(dirname "${BASH_SOURCE[0]}")/all.yaml
rm -rf runs
export OMP_WAIT_POLICY=passive

"$heed" --plugin "$plugin" validate "$config" >/dev/null
"$heed" --plugin "$plugin" train "$config" --out runs/whole
"$heed" --plugin "$plugin" train "$config" --out runs/parts --set train.steps=120
# The run says which plugin it needs, and the user that it may be loaded.
export HEED_TRUST_PLUGINS=1
"$heed" train --resume runs/parts --set train.steps=200 --threads 1
for file in model optimizer; do
  cmp runs/{whole,parts}/checkpoints/step-000200/$file.safetensors
done
loss=$("$heed" eval runs/whole --json | sed 's/.*"val_loss": *\([0-9.e+-]*\).*/\1/')
awk -v loss="$loss" 'BEGIN { exit !(loss < 1.0) }' || { echo "the model has not learned: val_loss $loss"; exit 1; }
echo "val_loss $loss; 120 and 80 steps end with the bits of 200"

# The hooks have written a line for each evaluation: every 50 steps, and at the end of the first part.
wc -l runs/{whole,parts}/losses.txt
[ "$(wc -l <runs/whole/losses.txt)" -eq 4 ] && [ "$(wc -l <runs/parts/losses.txt)" -eq 5 ]
printf 'All of it is the sentence of a text that has nothing but letters and blanks. %.0s' {1..40} >letters.txt
"$heed" --plugin "$plugin" train "$config" --out runs/letters --set train.steps=2 \
  --set 'data={type: text, path: letters.txt, tokenizer: letters}' \
  --set 'model={type: gpt, context_length: 12, d_model: 8, num_heads: 2, num_layers: 1}'
[[ "$("$heed" generate runs/letters --prompt 'To be' --tokens 3)" =~ ^To\ be[a-z_]{3}$ ]]

if "$heed" --help | grep -q '^  report '; then
  "$heed" report runs/whole runs/parts --out runs/report.html
  test -s runs/report.html
fi

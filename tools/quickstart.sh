#!/usr/bin/env bash
# From a checkout to a trained model: installs packages, builds what training and its report need,
# trains configs/quickstart.yaml and shows the output. Then builds everything else of heed, and
# heed-f64, which checks gradients.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tools/setup.sh
tools/build.sh --first

run=runs/quickstart
for ((n = 2; ; ++n)); do
  [ -e "$run" ] || break
  run=runs/quickstart-$n
done

echo
echo "train: configs/quickstart.yaml into $run"
build/release/heed train configs/quickstart.yaml --out "$run"

echo
echo "What it writes by now (all samples: $run/samples.txt):"
echo
tail -n 24 "$run/samples.txt" | sed 's/^/    /'
echo
if [ -t 2 ]; then # heed has said on the terminal what to do next
  echo "Here \`heed\` is build/release/heed."
else
  [ ! -s "$run/report.html" ] || echo "Curves and attention, in a browser: $PWD/$run/report.html"
  echo "Let it write more:                  build/release/heed generate $run --prompt 'ROMEO:' --tokens 300"
fi

echo
echo "Now the rest of heed: explain, tour, probe, gradcheck and others. Ctrl-C is safe; tools/build.sh goes on."
tools/build.sh programs

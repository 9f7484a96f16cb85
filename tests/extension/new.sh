#!/usr/bin/env bash
# new.sh HEED KIND PACKAGE [BUILD_TYPE]: `heed new KIND demo` in an empty folder; configures, builds, tests and trains it.
# To the layer's project a task is added.
set -euo pipefail
heed=$1 kind=$2 package=$3 type=${4:-}
rm -rf "new_$kind"
mkdir "new_$kind"
cd "new_$kind"
"$heed" new "$kind" demo
if [ "$kind" = layer ]; then
  (cd demo && "$heed" new task more)
fi
cmake -S demo -B demo/build -Dheedgrad_DIR="$package" ${type:+-DCMAKE_BUILD_TYPE="$type"} >/dev/null
cmake --build demo/build -j"$(nproc)"
ctest --test-dir demo/build --output-on-failure --no-label-summary
if [ "$kind" = layer ]; then
  "$heed" --trust-plugins train demo/more.yaml --out more
  [ "$("$heed" --trust-plugins generate more --prompt '3 1 4 1 5')" = 4 ]
fi
"$heed" --trust-plugins train demo/demo.yaml --out run

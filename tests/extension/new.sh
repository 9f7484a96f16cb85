#!/usr/bin/env bash
# new.sh HEED KIND PACKAGE [BUILD_TYPE]: `heed new KIND demo` in an empty folder; configures, builds, tests and trains it.
set -euo pipefail
heed=$1 kind=$2 package=$3 type=${4:-}
rm -rf "new_$kind"
mkdir "new_$kind"
cd "new_$kind"
"$heed" new "$kind" demo
cmake -S demo -B demo/build -Dheedgrad_DIR="$package" ${type:+-DCMAKE_BUILD_TYPE="$type"} >/dev/null
cmake --build demo/build -j"$(nproc)"
ctest --test-dir demo/build --output-on-failure --no-label-summary
"$heed" --trust-plugins train demo/demo.yaml --out run

#!/usr/bin/env bash
# Installs heedgrad to a temporary prefix, copies this folder to another, builds it against that prefix alone and runs
# its tests: recipes, a config that uses all of them, `heed new`.
#   tests/extension/run.sh [BUILD]     BUILD: heedgrad's build folder (default: build/release)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=$(realpath "${1:-build/release}")
temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
cmake --build "$build" --target programs -j"$(nproc)" >"$temporary/log" || { tail -n 60 "$temporary/log"; exit 1; }
cmake --install "$build" --prefix "$temporary/prefix" >"$temporary/log"
cp -r tests/extension "$temporary/a copy"
cd "$temporary"
cmake -S "a copy" -B build -DCMAKE_PREFIX_PATH="$temporary/prefix" >log
cmake --build build -j"$(nproc)" >log || { tail -n 60 log; exit 1; }
ctest --test-dir build --output-on-failure --no-label-summary

# The installed program finds its own configs, from any folder.
mkdir nothing
(cd nothing && ../prefix/bin/heed validate quickstart | grep -F "$temporary/prefix/share/heedgrad/configs/quickstart.yaml: ok")

# The build folder serves find_package like an installation.
cmake -S "a copy" -B from_build -DCMAKE_PREFIX_PATH="$build" -DCMAKE_BUILD_TYPE=Debug >log
cmake --build from_build --target without_config >log || { tail -n 60 log; exit 1; }
from_build/without_config >/dev/null
echo "from the build folder: ok"

# pkg-config serves who has no CMake: in both precisions after an installation, and from the build folder.
check_pkg_config() {
  flags=$(PKG_CONFIG_PATH="$2" pkg-config --cflags --libs "$1")
  eval "c++ 'a copy/without_config.cpp' -o program $flags"  # a path with a blank comes with a backslash
  ./program >/dev/null
  echo "pkg-config $1 of $2: ok"
}
installed=$(dirname "$(find "$PWD/prefix" -name heedgrad.pc)")
check_pkg_config heedgrad "$installed"
check_pkg_config heedgrad-f64 "$installed"
check_pkg_config heedgrad "$build/lib/pkgconfig"

#!/usr/bin/env bash
# Installs a wheel of heedgrad into an empty virtual environment and uses it: the libraries and the kernel of the bundled
# OpenBLAS, a step of the tour, a short training run, the Python package.
#   tools/python/try_wheel.sh build/wheel/heedgrad-*.whl
# NumPy and safetensors come from pip's usual place. A folder of the name with them needs no network: PIP_FIND_LINKS, PIP_NO_INDEX.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: tools/python/try_wheel.sh WHEEL" >&2; exit 2; }
wheel=$(realpath "$1")
checkout=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

python3 -m venv "a new environment"
"a new environment/bin/pip" install -q --disable-pip-version-check "$wheel"
export PATH="$folder/a new environment/bin:$PATH"
unset LD_LIBRARY_PATH

native=$(python3 -c 'import importlib.util as u; print(u.find_spec("heedgrad").submodule_search_locations[0])')/_native
elsewhere=$(ldd "$native/bin/heed" | grep '=> /' | grep -vF "$native" | grep -vE '/lib(c|m|mvec|dl|rt|pthread|gcc_s|stdc\+\+)\.so' || true)
[ -z "$elsewhere" ] || { echo "try_wheel: these libraries are not the wheel's: $elsewhere" >&2; exit 1; }

kernel() { "$@" info --json | python3 -c 'import json, sys; print(json.load(sys.stdin)["blas"]["kernel"])'; }
here=$(kernel heed)
for built in "$checkout"/build/{portable,release}/heed; do
  [ -x "$built" ] && there=$(kernel "$built") || continue
  [ "$here" = "$there" ] || { echo "try_wheel: the wheel's OpenBLAS runs $here, the system's $there" >&2; exit 1; }
done

quietly() { "$@" >log 2>&1 || { cat log >&2; echo "try_wheel: failed: $*" >&2; exit 1; }; }
quietly heed tour causal
quietly heed train "$checkout/train/extras/toy_tasks/configs/six_words.yaml" --out run
quietly heed train "$checkout/train/extras/toy_tasks/configs/six_words.yaml" --set precision=float64 --out run64  # by heed-f64
python3 -c 'import heedgrad'
echo "try_wheel: $(basename "$wheel") works, OpenBLAS's kernel is $here"

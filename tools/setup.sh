#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that heedgrad needs; silent when all are there.
#   tools/setup.sh         compiler, CMake and libraries
#   tools/setup.sh --dev   also what .ci/run uses: Clang 14 with libFuzzer, clang-format 14, python3-jsonschema and -yaml
set -euo pipefail

packages=(g++ cmake make libopenblas-dev libyaml-cpp-dev doctest-dev libcli11-dev nlohmann-json3-dev)
case "${1:-}" in
  "") ;;
  --dev)
    packages+=(clang-14 libclang-rt-14-dev clang-format-14 libomp-14-dev pkg-config git
               python3-jsonschema python3-yaml)
    ;;
  *) echo "usage: tools/setup.sh [--dev]" >&2; exit 2 ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; heedgrad needs GCC 12 or Clang 14, CMake 3.25, make, OpenBLAS," \
       "yaml-cpp, doctest, CLI11 and nlohmann-json" >&2
  exit 0  # they may be there; CMake names what is not
fi

missing=()
for package in "${packages[@]}"; do
  case "$package" in
    cmake | make) command -v "$package" >/dev/null && continue ;;  # also those that came another way
  esac
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
  [[ $status == *" installed" ]] || missing+=("$package")
done

if [ ${#missing[@]} -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "setup: there is no sudo here; as root, run: apt-get install ${missing[*]}" >&2
      exit 1
    fi
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  log=$(mktemp)
  trap 'rm -f "$log"' EXIT
  apt() {
    # An empty array under `set -u` is an error in old versions of bash, hence the `+`.
    ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
      -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >>"$log" 2>&1 </dev/null
  }
  # sudo asks for the password here, where it can be seen.
  [ ${#as_root[@]} -eq 0 ] || sudo -v || { echo "setup: as root, run: apt-get install ${missing[*]}" >&2; exit 1; }
  if ! { apt update && apt install --no-install-recommends "${missing[@]}"; }; then
    cat "$log" >&2
    echo "setup: apt-get failed (above); it was to install ${missing[*]}" >&2
    exit 1
  fi
fi

version=$(cmake --version | sed -n '1s/cmake version //p')
if [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" != 3.25 ]; then
  echo "setup: CMake 3.25 or newer is needed, this is $version; try: pip install cmake" >&2
  exit 1
fi

#!/usr/bin/env bash
# Installs the Debian or Ubuntu packages that heedgrad needs; prints nothing if all are installed.
#   tools/setup.sh            compiler, CMake and libraries
#   tools/setup.sh --dev      also what .ci/run uses: Clang 14 with libFuzzer, clang-format 14, python3-jsonschema and -yaml,
#                             python3-venv, chromium and qemu-user
#   tools/setup.sh --package  what tools/setup/package.sh uses as well: help2man, lintian, patchelf, dpkg-dev, Python
#   tools/setup.sh --wheel    what tools/python/build_wheel.sh uses as well: patchelf and Python
#   tools/setup.sh --site     what tools/setup/site.sh uses as well: mkdocs with its theme material
#   CXX=clang++-18 tools/setup.sh    also this compiler
set -euo pipefail

packages=(g++ cmake make libopenblas-dev libyaml-cpp-dev nlohmann-json3-dev libxxhash-dev libutf8proc-dev
          libcli11-dev doctest-dev)
# Optional, each with what is missing without it.
declare -A optional=(
  [libjs-vega]="report.html will have tables in place of charts"
  [libopenmpi-dev]="a run will have one process"
  [openmpi-bin]="there will be no mpirun"
  [libpcre2-dev]="there will be no byte pair encoding"
  [libedit2]="heed chat will not edit lines"
)
case "${1:-}" in
  "") ;;
  --dev)
    packages+=(clang-14 libclang-rt-14-dev clang-format-14 libomp-14-dev pkg-config git qemu-user
               python3-jsonschema python3-yaml python3-venv chromium)
    ;;
  --package) packages+=(help2man lintian patchelf dpkg-dev file python3) ;;
  --wheel) packages+=(patchelf binutils python3) ;;
  --site) packages+=(mkdocs-material python3) ;;
  *) echo "usage: tools/setup.sh [--dev | --package | --wheel | --site]" >&2; exit 2 ;;
esac

case "${CXX:-}" in
  g++-*) packages+=("$CXX") ;;
  clang++-*) packages+=("clang-${CXX#clang++-}" "libomp-${CXX#clang++-}-dev") ;;
esac

if ! command -v apt-get >/dev/null; then
  echo "setup: no apt-get here; heedgrad needs GCC 12 or Clang 14, CMake 3.25, make, OpenBLAS," \
       "yaml-cpp, nlohmann-json, xxHash, utf8proc, PCRE2, CLI11, doctest and, for charts in report.html, Vega 5," \
       "for runs of several processes an MPI, and to edit lines in heed chat libedit" >&2
  exit 0  # the tools may be installed anyway; CMake reports what is missing
fi

native=$(dpkg --print-architecture)
is_missing() {
  case "$1" in
    cmake | make) command -v "$1" >/dev/null && return 1 ;;  # accept other sources too
  esac
  # Packages of another kind of machine do not count: tools/setup/arm64.sh installs some.
  ! dpkg-query -W -f '${Status} ${Architecture}\n' "$1" 2>/dev/null | grep -qE " installed (all|$native)\$"
}

missing=()
for package in "${packages[@]}"; do
  ! is_missing "$package" || missing+=("$package")
done

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
log=$(mktemp)
trap 'rm -f "$log"' EXIT
apt() {
  # Old versions of bash reject an empty array under `set -u`, hence the `+`.
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
    -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3 "$@" >>"$log" 2>&1 </dev/null
}
# install PACKAGE...: returns whether it succeeded; the output of apt-get is in $log.
install() {
  echo "setup: installing $*"
  if [ ${#as_root[@]} -gt 0 ]; then
    # sudo asks for the password here, where the prompt is visible.
    command -v sudo >/dev/null && sudo -v || { echo "setup: as root, run: apt-get install $*" >&2; return 1; }
  fi
  apt update && apt install --no-install-recommends "$@"
}

if [ ${#missing[@]} -gt 0 ] && ! install "${missing[@]}"; then
  cat "$log" >&2
  echo "setup: could not install ${missing[*]}" >&2
  exit 1
fi
for package in "${!optional[@]}"; do
  if is_missing "$package" && ! install "$package"; then
    echo "setup: $package could not be installed; ${optional[$package]}" >&2
  fi
done

version=$(cmake --version | sed -n '1s/cmake version //p')
if [ "$(printf '%s\n' 3.25 "$version" | sort -V | head -n 1)" != 3.25 ]; then
  echo "setup: CMake 3.25 or newer is needed, this is $version; try: pip install cmake" >&2
  exit 1
fi

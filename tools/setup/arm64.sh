#!/usr/bin/env bash
# Cross-compiles heedgrad for 64-bit Arm on a Debian machine of another kind, into build/arm64.
#   tools/setup/arm64.sh -R autograd    runs tests under qemu's emulation of a user's program; arguments go to ctest
#   tools/setup/arm64.sh --programs     builds the programs alone: for a wheel (tools/python/build_wheel.sh --build
#                                       build/arm64) or Debian packages (tools/setup/package.sh --build build/arm64)
#
# Installs the cross compiler, the emulator and the libraries for Arm. The tests start programs, which Linux gives to the
# emulator if binfmt_misc is told so; as root this script does that until the next start of the machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

as_root=()
[ "$(id -u)" -eq 0 ] || as_root=(sudo)
packages=(g++-aarch64-linux-gnu qemu-user cmake make nlohmann-json3-dev libcli11-dev doctest-dev)
for library in libopenblas-dev libyaml-cpp0.7 libxxhash-dev libutf8proc-dev libpcre2-dev libgomp1; do
  packages+=("$library:arm64")
done
missing=()
for package in "${packages[@]}"; do
  [[ $(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true) == *" installed" ]] || missing+=("$package")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "arm64: installing ${missing[*]}"
  ${as_root[@]+"${as_root[@]}"} dpkg --add-architecture arm64
  ${as_root[@]+"${as_root[@]}"} apt-get -qq update
  ${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive apt-get -qq -y install --no-install-recommends \
    "${missing[@]}" >/dev/null
fi

# Debian's libyaml-cpp-dev cannot be installed for two kinds of machines at once: it is unpacked into the build folder.
build=build/arm64
unpacked=$PWD/$build/debian
if [ ! -e "$unpacked" ]; then
  rm -rf "$unpacked.new"
  mkdir -p "$unpacked.new"
  (cd "$unpacked.new" && apt-get -qq download libyaml-cpp-dev:arm64 libyaml-cpp0.7:arm64 2>download.log) ||
    { cat "$unpacked.new/download.log" >&2; echo "arm64: could not download libyaml-cpp-dev:arm64" >&2; exit 1; }
  for package in "$unpacked.new"/*.deb; do dpkg -x "$package" "$unpacked.new"; done
  mv "$unpacked.new" "$unpacked"
fi

binfmt=/proc/sys/fs/binfmt_misc
if [ ! -e "$binfmt/qemu-aarch64" ]; then
  mountpoint -q "$binfmt" || ${as_root[@]+"${as_root[@]}"} mount -t binfmt_misc binfmt_misc "$binfmt"
  # An ELF file of 64 bits, little endian, executable or shared (02, 03), for machine b7.
  magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
  mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
  echo ":qemu-aarch64:M::$magic:$mask:$(command -v qemu-aarch64):OC" |
    ${as_root[@]+"${as_root[@]}"} tee "$binfmt/register" >/dev/null
fi

cmake --preset portable -B $build -DCMAKE_TOOLCHAIN_FILE="$PWD/tools/cmake/arm64.cmake" -DHEED_WERROR=ON -DHEED_TESTS=ON \
  -DCMAKE_PREFIX_PATH="$unpacked/usr" >$build.log 2>&1 ||
  { tail -n 20 $build.log; exit 1; }
target=all
[ "${1:-}" != --programs ] || target=programs
cmake --build $build -j"$(nproc)" --target $target >$build.log 2>&1 || { grep -nE -A 3 'error|warning' $build.log; exit 1; }
[ $target = all ] || exit 0
# Tests that measure the machine (its memory, times and cores) may fail in an emulator.
ctest --test-dir $build -j"$(nproc)" --no-label-summary --timeout 3000 "$@"

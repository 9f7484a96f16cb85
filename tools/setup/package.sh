#!/usr/bin/env bash
# Makes the Debian packages heedgrad, libheedgrad-dev and heedgrad-mpi: builds the preset `portable`, writes the man pages,
# packs, and ends with what lintian finds.
#   tools/setup/package.sh --out DIR [--build BUILD]    BUILD: a build folder of that preset (default: build/package);
#                                                       build/arm64 of tools/setup/arm64.sh gives packages for 64-bit Arm
# The maintainer is $DEBFULLNAME <$DEBEMAIL>, as for Debian's own tools, or git's user.
set -euo pipefail
start=$SECONDS
usage() {
  echo "usage: tools/setup/package.sh --out DIR [--build BUILD]" >&2
  exit 2
}
out=
build=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] && [ -n "$2" ] || usage
  case "$1" in
    --out) out=$(realpath -m "$2") ;;
    --build) build=$(realpath -m "$2") ;;
    *) usage ;;
  esac
  shift 2
done
[ -n "$out" ] || usage
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${build:-$PWD/build/package}
tools/setup.sh --package

name=${DEBFULLNAME:-$(git config user.name || true)}
address=${DEBEMAIL:-$(git config user.email || true)}
if [ -z "$name" ] || [ -z "$address" ]; then
  echo "package: the packages need a maintainer: set DEBFULLNAME and DEBEMAIL" >&2
  exit 1
fi

mkdir -p "$build"
quietly() {
  "$@" >"$build/package.log" 2>&1 && return
  tail -n 60 "$build/package.log" >&2
  echo "package: failed: $*" >&2
  exit 1
}
quietly cmake --preset portable -B "$build" -DCMAKE_INSTALL_PREFIX=/usr -DHEED_TESTS=OFF -DHEED_OWN_COPIES=ON \
  -DCPACK_PACKAGE_CONTACT="$name <$address>"
quietly cmake --build "$build" --target programs -j"$(nproc)"
echo "built after $((SECONDS - start)) s"
version=$(sed -n 's/^CMAKE_PROJECT_VERSION:STATIC=//p' "$build/CMakeCache.txt")

# A page for heed, and one for each command: heed-train(1).
rm -rf "$build/man1"
mkdir -p "$build/man1"
page() {  # NAME HELP COMMAND...
  local name=$1 help=$2
  shift 2
  # help2man asks a program with --help; CLI11 has no blank between -h and --help, where it takes them for one. Its path
  # goes through a shell without quotes: none with a blank.
  printf '#!/bin/sh\nexec %s | sed "s/-h,--help /-h, --help/"\n' "$(printf '%q ' "$@" --help)" >"$build/man1/$name"
  chmod +x "$build/man1/$name"
  (cd "$build/man1" && help2man --no-info --no-discard-stderr --name="$help" --source=heedgrad \
    --version-string="$name $version" "./$name") | sed "/^\.SH \"SEE ALSO\"/,\$d" | gzip -9n >"$build/man1/$name.1.gz"
  rm "$build/man1/$name"
}
page heed "trains small transformers and shows what their attention does" "$build/heed"
"$build/heed" complete -- '' | while IFS=$'\t' read -r command help; do
  page "heed-$command" "$help" "$build/heed" "$command"
done

ln -s heed.1.gz "$build/man1/heed-f64.1.gz"

# The pages for users, in the folders that their links expect.
python3 tools/setup/site/site.py documents --into "$build/documents"

date=$(git log -1 --format=%cD 2>/dev/null || date -R)
gzip -9n >"$build/changelog.gz" <<END
heedgrad ($version) unstable; urgency=medium

  * This version; what it changes is listed in CHANGES.md of the source.

 -- $name <$address>  $date
END

rm -rf "$build/packages"
(cd "$build" && quietly cpack --config CPackConfig.cmake)
mkdir -p "$out"
mv "$build"/packages/*.deb "$out"
(cd "$out" && du -h --apparent-size -- *"_${version}_"*.deb)
echo "packed after $((SECONDS - start)) s"
lintian --tag-display-limit 0 --fail-on error "$out"/*"_${version}_"*.deb

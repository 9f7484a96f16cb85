#!/usr/bin/env bash
# Makes a release, and publishes nothing: builds and tests, then packs Debian packages and wheels for x86-64 and 64-bit Arm,
# the site, and the notes, which are the version's section of CHANGES.md. On Debian 12.
#   tools/release.sh 0.3.0              into build/release-0.3.0
#   tools/release.sh 0.3.0 --out DIR    into DIR
#   tools/release.sh 0.3.0 --check      only says whether this checkout can become that release
# It refuses a checkout with changes, a version that is not CMakeLists.txt's, and a section of CHANGES.md without a date.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

usage() { echo "usage: tools/release.sh VERSION [--out DIR | --check]" >&2; exit 2; }
refuse() { echo "release: $*" >&2; exit 1; }
[[ ${1:-} =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || usage
version=$1
out=build/release-$version
check=
case "$#:${2:-}" in
  1:) ;;
  2:--check) check=yes ;;
  3:--out) out=$3 ;;
  *) usage ;;
esac

changes=$(git status --porcelain | head -n 3)
[ -z "$changes" ] || refuse "commit these changes first, or take them back: ${changes//$'\n'/,}"
built=$(sed -n 's/^project(heedgrad VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[ "$built" = "$version" ] || refuse "CMakeLists.txt says version $built, not $version"
heading=$(grep -m 1 -E "^## ${version//./\\.}([ ,]|$)" CHANGES.md) || refuse "CHANGES.md has no section \"## $version\""
[[ $heading =~ ^"## $version, "[0-9]{4}-[0-9]{2}-[0-9]{2}$ ]] ||
  refuse "CHANGES.md: \"$heading\" has no date; write \"## $version, $(date +%F)\""
# The tag may be there: it is what starts .github/workflows/release.yml. It must be this commit.
tagged=$(git rev-parse -q --verify "v$version^{commit}" || true)
[ -z "$tagged" ] || [ "$tagged" = "$(git rev-parse HEAD)" ] || refuse "the tag v$version is another commit, ${tagged:0:8}"
[ -z "$check" ] || { echo "release: $version can be made from this checkout"; exit 0; }
[ ! -e "$out" ] || [ -z "$(ls -A "$out")" ] || refuse "$out is not empty"
mkdir -p "$out"
out=$(realpath "$out")

tools/test.sh
tools/setup/package.sh --out "$out"
tools/python/build_wheel.sh --build build/package --out "$out"
tools/setup/arm64.sh --programs
tools/setup/package.sh --out "$out" --build build/arm64
tools/python/build_wheel.sh --build build/arm64 --out "$out"
tools/setup/site.sh --heed build/package/heed --out build/site/html
tar -C build/site/html --sort=name --owner=0 --group=0 --numeric-owner --mtime=@0 -czf "$out/site.tar.gz" .
awk -v heading="$heading" '$0 == heading { inside = 1; next } /^## / { inside = 0 } inside' CHANGES.md >"$out/notes.md"
(cd "$out" && sha256sum -- *.deb *.whl site.tar.gz >SHA256SUMS)

echo
du -h --apparent-size "$out"/*
cat <<END

To publish, which .github/workflows/release.yml does when the tag arrives:
  git tag -a v$version -m "heedgrad $version"
  git push origin v$version
END

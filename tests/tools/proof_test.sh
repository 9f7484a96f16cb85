#!/usr/bin/env bash
# tools/proof.sh holds, leaves nothing behind, and works from another folder with blanks in every
# path; and each of its rows fails when heed is wrong.
#   tests/tools/proof_test.sh [BUILD]
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "${1:-$root/build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/its own files" "$work/a build"
export TMPDIR="$work/its own files"
fail() {
  echo "proof test: $*" >&2
  cat "$work/said" >&2
  exit 1
}
# proof CODE BUILD
proof() {
  local code=0
  "$work/a checkout/tools/proof.sh" "$2" >"$work/said" 2>&1 || code=$?
  [ $code = "$1" ] || fail "expected exit code $1, got $code"
  [ -z "$(ls -A "$TMPDIR")" ] || fail "left behind: $(ls -A "$TMPDIR")"
}
count() { grep -c "^   $1" "$work/said" || true; }

cd /
ln -s "$root" "$work/a checkout"
proof 2 "$work"
[ "$(wc -l <"$work/said")" = 1 ] || fail 'expected one line'
grep -q 'type: tools/build.sh programs$' "$work/said" || fail 'it does not say what to type'

ln -s "$build"/* "$work/a build"
proof 0 "$work/a build"
holds=$(count holds)
[ "$holds" -ge 6 ] && [ $((holds + $(count 'skipped: no '))) = 7 ] || fail 'not all rows hold'

# A heed that is wrong in one thing for each row that needs no PyTorch.
rm "$work/a build/heed"
cat >"$work/a build/heed" <<WRONG
#!/usr/bin/env bash
set -o pipefail
heed() { '$build/heed' "\$@"; }
case " \$* " in
  *' --threads 5 '*) heed "\$@" --set seed=9 ;;
  *' --resume '*) heed "\$@" && printf x >>killed/checkpoints/step-000400/model.safetensors ;;
  *' forward '*) heed "\$@" && truncate -s -2 y.safetensors && printf xx >>y.safetensors ;;
  *nanogpt*) heed "\$@" 2>&1 | sed '/num_heads/d' ;;
  *' microgpt '*) heed "\$@" 2>&1 | sed 's/peak .* MB (/peak 500.0 MB (/' ;;
  *' wrong_layer '*) heed "\${@:1:\$#-1}" right_layer ;;
  *) exec '$build/heed' "\$@" ;;
esac
WRONG
chmod +x "$work/a build/heed"
PYTHON=false proof 1 "$work/a build"
[ "$(count FAILED)" = 6 ] && [ "$(count 'skipped: no torch')" = 1 ] || fail 'a wrong heed passes'
echo "$holds of 7 rows hold; with a heed that is wrong in six ways, six fail"

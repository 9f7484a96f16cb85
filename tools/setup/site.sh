#!/usr/bin/env bash
# Builds a site from the READMEs by ProperDocs where that is installed (with mkdocs-material, by pip), else by Debian's
# mkdocs: a page per extra, every source file that a README names, the page of the tour and three pages of heed explain.
# A link that leads nowhere ends it with 1.
#   tools/setup/site.sh                    into build/site/html
#   tools/setup/site.sh --out DIR          into DIR, which may exist only as a site or empty
#   tools/setup/site.sh --heed FILE        the program that makes the pages; otherwise build/release/heed is built
# The pages of explain need trained models (about two minutes on two cores). They stay in build/site/runs, as do the pages.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage() { echo "usage: tools/setup/site.sh [--out DIR] [--heed FILE]" >&2; exit 2; }
out=build/site/html
heed=
while [ $# -gt 0 ]; do
  [ $# -ge 2 ] || usage
  case "$1" in
    --out) out=$2 ;;
    --heed) heed=$2 ;;
    *) usage ;;
  esac
  shift 2
done
if [ -e "$out" ] && [ ! -e "$out/search/search_index.json" ] && [ -n "$(ls -A "$out")" ]; then
  echo "site: $out is there and holds no site; name another folder" >&2
  exit 2
fi

tools/setup.sh --site
if [ -z "$heed" ]; then
  tools/build.sh heed
  heed=build/release/heed
fi
heed=$(realpath "$heed")

runs=build/site/runs
pages=build/site/pages
mkdir -p "$runs" "$pages"
"$heed" tour --html "$pages/tour.html" >/dev/null

# explain NAME CONFIG PROMPT: trains if it has not yet, and writes NAME.html.
explain() {
  local name=$1 config=$2 prompt=$3
  if [ ! -e "$runs/$name.done" ]; then
    rm -rf "${runs:?}/$name"
    echo "site: training $config"
    "$heed" train "$config" --out "$runs/$name" >"$runs/$name.log" 2>&1 || { cat "$runs/$name.log" >&2; return 1; }
    touch "$runs/$name.done"
  fi
  "$heed" explain "$runs/$name" --prompt "$prompt" --out "$pages/$name.html" >/dev/null
}
explain shakespeare configs/quickstart.yaml 'ROMEO:'
explain induction tools/extras/probe/configs/induction.yaml '7 3 21 0 14 7 3 21'
explain negation train/extras/toy_tasks/configs/negation.yaml 'Attention is not too shabby'
cp "$runs/shakespeare/report.html" "$pages/report.html"

python3 tools/setup/site/site.py stage --pages "$pages" --into build/site/staged
builder=$(command -v properdocs || echo mkdocs)  # mkdocs itself is maintained no more
"$builder" build --quiet --strict --clean --config-file build/site/staged/mkdocs.yml --site-dir "$(realpath -m "$out")"
python3 tools/setup/site/site.py finish "$out"
echo "site: $out/index.html"

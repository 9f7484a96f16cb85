#!/usr/bin/env bash
# Installs the Debian packages of tools/setup/package.sh in a root folder of their own, uses them as somebody who has no
# checkout, removes them, and compares what is left. As root; needs debootstrap.
#   tests/tools/packages.sh PACKAGES [ROOT]    ROOT: a Debian 12 to use (default: a new one, removed at the end)
set -euo pipefail
packages=$(realpath "${1:?usage: tests/tools/packages.sh PACKAGES [ROOT]}")
root=${2:-}
made=
if [ -z "$root" ]; then
  made=$(mktemp -d)
  root=$made
fi
end() {
  umount "$root/proc" || true
  [ -z "$made" ] || rm -rf --one-file-system "$made"
}
trap end EXIT
if [ -n "$made" ]; then
  chmod 755 "$root"  # programs in it that drop root's rights must get in
  debootstrap --variant=minbase bookworm "$root" >"$root/debootstrap.log"
  rm "$root/etc/apt/sources.list"
  cp -r /etc/apt/sources.list* /etc/apt/apt.conf.d "$root/etc/apt/"  # the mirror of this machine
fi
mount -t proc proc "$root/proc"  # where a program finds itself
in_root() { chroot "$root" env -i HOME=/root TERM=dumb PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"; }
# All files and folders but those that apt, dpkg and adduser (which packages of MPI call) keep for themselves.
files() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./run -o -path ./tmp -o -path './etc/*-' -o -path ./var/cache -o -path ./var/lib/apt -o -path ./var/lib/dpkg -o -path ./var/log \) -prune -o -print | sort); }

in_root apt-get -qq update
in_root apt-get -qq -y install --no-install-recommends man-db bash-completion >/dev/null
files >"$root/tmp/before"
rm -rf "$root/tmp/packages"
cp -r "$packages" "$root/tmp/packages"
start=$SECONDS
in_root sh -c 'apt-get -qq -y install --no-install-recommends /tmp/packages/*_"$(dpkg --print-architecture)".deb' \
  >/dev/null
echo "installed in $((SECONDS - start)) s"

cat >"$root/tmp/use.sh" <<'END'
set -eu
mkdir -p /tmp/use && cd /tmp/use
expect() { grep -qF -- "$1" || { echo "expected: $1" >&2; exit 1; }; }
heed --version
heed info | expect portable
heed configs | expect "  quickstart "
heed configs quickstart --copy mine | expect mine/data/tinyshakespeare.txt
heed validate mine/quickstart.yaml | expect "mine/quickstart.yaml: ok"
heed train quickstart --set train.steps=20 --set eval.batches=2 >train.log 2>&1
expect "done: runs/quickstart" <train.log
heed train six_words --set precision=float64 --out runs/words >train64.log 2>&1
heed generate runs/quickstart --prompt ROMEO: --tokens 20 | expect ROMEO:
heed inspect runs/quickstart --attention --prompt "To be" | expect "head 0"
heed tour causal | expect causal
heed gradcheck linear | expect "passed: "
heed new layer demo | expect demo/demo.h
man heed 2>/dev/null | expect "trains small transformers"
man heed-train 2>/dev/null | expect "--max-seconds"
bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader heed; complete -p heed' | expect _heed
cd /usr/share/doc/heedgrad
expect "heed tour" <README.md
grep -roE --include='*.md' '\]\([^):# ]+\.(md|svg|png)' . | while IFS=: read -r page link; do
  target=$(dirname "$page")/${link#"]("}
  test -e "$target" || { echo "$page: there is no $target" >&2; exit 1; }
done
test -e /usr/lib/*/libheedgrad-mpi.so -a -e /usr/include/heed/heed.h
END
in_root bash /tmp/use.sh
echo "used"
rm -rf "$root"/tmp/use "$root"/tmp/use.sh "$root"/root/.cache
in_root apt-get -qq -y purge --autoremove heedgrad heedgrad-mpi libheedgrad-dev >/dev/null
files | diff "$root/tmp/before" - && echo "nothing is left"

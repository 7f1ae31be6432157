#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# pack.sh STAGE VENDOR OPS OUT: packs STAGE, which holds opp/vendors/VENDOR/..., into the
# self-extracting OUT/cann-hccl_custom_OPS_linux-<arch>.run.
set -eu

die() {
    echo "pack: $1" >&2
    exit 1
}

[ $# -eq 4 ] || die "give STAGE VENDOR OPS OUT"
here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P)
stage=$(CDPATH='' cd "$1" && pwd -P)
vendor=$2
ops=$3
out=$(CDPATH='' cd "$4" && pwd -P)
command -v makeself >/dev/null || die "makeself is missing: install the package makeself"
makeself_header=${MAKESELF_HEADER:-/usr/share/makeself/makeself-header.sh}

# ---- the list of what the package owns, and the scripts ----

scripts=opp/vendors/$vendor/scripts
list=$scripts/hccl_custom_$ops.files
mkdir -p "$stage/$scripts"
(
    cd "$stage"
    rm -f "$scripts/install.sh" "$scripts/uninstall.sh" "$scripts/help.info" "$list"
    files=$(find . -type f | sed 's|^\./||')
    printf '%s\n' "$files" "$list" | sort >"$list"
    ! grep -qv "^opp/vendors/$vendor/" "$list"
) || die "$stage has files outside opp/vendors/$vendor"
cp "$here/install.sh" "$here/uninstall.sh" "$here/help.info" "$stage/$scripts/"

# ---- the archive ----

# makeself puts its command line into the archive: a working directory keeps our paths out of it.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cd "$work"
ln -s "$stage" package
cp "$here/help.info" .

# The stock header refuses options that it does not know; ours go to the installer. It also learns
# --extract, and that --quiet is for both, wherever it stands.
awk '
    /^[ \t]*-\*\)[ \t]*$/ && !found {
        found = 1
        print "    --extract=*)"
        print "\tkeep=y"
        print "\ttargetdir=\\${1#*=}"
        print "\tscript=\"\""
        print "\tshift"
        print "\t;;"
        print "    --*)"
        print "\tbreak"
        print "\t;;"
    }
    { print }
    found == 1 && /^done/ {
        found = 2
        print "test x\"\\$quiet\" = xn || set -- --quiet \"\\$@\""
        print "for arg"
        print "do"
        print "    test x\"\\$arg\" = x--quiet && quiet=y && noprogress=y"
        print "done"
    }
    END { exit found == 2 ? 0 : 1 }' "$makeself_header" >header.sh ||
    die "$makeself_header is not one of makeself 2.4 or 2.5: the place for our options is not there"

compressor=
for tool in pigz gzip bzip2 xz; do
    [ -n "$compressor" ] || ! command -v $tool >/dev/null || compressor=--$tool
done
[ -n "$compressor" ] || die "none of pigz, gzip, bzip2 and xz is there"

run=cann-hccl_custom_${ops}_linux-$(uname -m).run
makeself $compressor --complevel 4 --nomd5 --sha256 --nooverwrite --noprogress --chown --tar-format gnu \
    --tar-extra --numeric-owner --tar-quietly --header ./header.sh --help-header ./help.info \
    package/ "$run" CANN_HCCL_RUN_PACKAGE "./$scripts/install.sh" >log 2>&1 || {
    cat log >&2
    die "makeself failed"
}
mv -f "$run" "$out/$run"
echo "$out/$run"

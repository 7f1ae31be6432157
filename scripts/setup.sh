#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# setup.sh [tests|compare]: installs the packages of packages.txt that are missing: of its first part, of
# the first two, or all. Quick when none is missing.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
missing=
case ${1-} in
compare) wanted=$(cat "$here/packages.txt") ;;
tests) wanted=$(sed '/^# compare:/,$d' "$here/packages.txt") ;;
*) wanted=$(sed '/^# tests:/,$d' "$here/packages.txt") ;;
esac
for package in $(echo "$wanted" | grep -v '^#'); do
    case $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true) in
    installed) ;;
    *) missing="$missing $package" ;;
    esac
done
[ -z "$missing" ] && exit 0

echo "installing:$missing" >&2
if [ "$(id -u)" -eq 0 ]; then
    as_root=
elif command -v sudo >/dev/null; then
    as_root=sudo
else
    echo "setup: run as root, or install by hand:$missing" >&2
    exit 1
fi
export DEBIAN_FRONTEND=noninteractive
$as_root apt-get update -qq >&2
# shellcheck disable=SC2086
$as_root apt-get install -y -qq --no-install-recommends $missing >&2

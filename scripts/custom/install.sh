#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Installs or removes a custom operator package. It lies in opp/vendors/<vendor>/scripts, of the
# unpacked package as of the installation. Options: help.info.
#
# A package says what it owns in scripts/hccl_custom_<ops>.files, one path a line, below the root.
# The scripts themselves are shared by the packages of a vendor and go with the last of them.
set -u
umask 022 # the self-extracting archive sets 077, but others must be able to read what we install

here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P) || exit 1
root=$(CDPATH='' cd "$here/../../../.." && pwd -P) || exit 1
scripts=${here#"$root/"} # opp/vendors/<vendor>/scripts
shared='install.sh uninstall.sh help.info'
quiet=n
target=

log() {
    case $1 in
    INFO) [ "$quiet" = y ] || echo "[hccl_custom_ops] [$(date '+%Y-%m-%d %H:%M:%S')] [INFO] $2" ;;
    *) echo "[hccl_custom_ops] [$(date '+%Y-%m-%d %H:%M:%S')] [$1] $2" >&2 ;;
    esac
}

die() {
    log ERROR "$1"
    exit 1
}

# ---- where to ----

make_directory() {
    [ -d "$1" ] || mkdir -p "$1" 2>/dev/null || die "cannot make the directory $1"
}

resolve() {
    (CDPATH='' cd "$1" 2>/dev/null && pwd -P) || die "directory $1 does not exist"
}

# A directory that a user names; an installation lies below it, or is it.
target_of_install_path() {
    case $1 in
    /*) ;;
    *) die "--install-path=$1: give an absolute path" ;;
    esac
    make_directory "$1"
    target=$(resolve "$1") || exit 1
    case $target in
    */Ascend/cann | */Ascend/cann-*) return ;;
    esac
    [ -e "$target/set_env.sh" ] && return
    target=$target/cann
    make_directory "$target"
}

find_target() {
    if [ -n "$install_path" ]; then
        target_of_install_path "$install_path"
    elif [ -n "${ASCEND_CUSTOM_OPP_PATH:-}" ]; then
        make_directory "$ASCEND_CUSTOM_OPP_PATH"
        target=$(resolve "$ASCEND_CUSTOM_OPP_PATH") || exit 1
    elif [ -n "${ASCEND_OPP_PATH:-}" ]; then
        target=$(resolve "$(dirname "$ASCEND_OPP_PATH")") || exit 1
    else
        die "where to? source set_env.sh of the installation, or give --install-path=DIR"
    fi
    [ -w "$target" ] || log WARNING "no permission to write to $target"
}

# ---- the list of allowed packages ----

# Runs its arguments while no other process changes the list.
with_list_locked() {
    make_directory "$target/conf"
    if command -v flock >/dev/null; then
        (flock 9 && "$@") 9<"$target/conf" # as `hcomm package allow` does
    else
        "$@"
    fi
}

# Moves stdin over the list, or removes the list if nothing is left of it.
replace_list() {
    ini=$target/conf/ascend_package_load.ini
    new=$ini.$$
    cat >"$new" || die "cannot write $new"
    if [ -s "$new" ]; then
        [ ! -e "$ini" ] || chmod --reference="$ini" "$new" 2>/dev/null
        mv -f "$new" "$ini" || die "cannot write $ini"
    else
        rm -f "$new" "$ini"
    fi
}

# The path that the list has for the package $1, if it has one.
listed_path() {
    [ -e "$target/conf/ascend_package_load.ini" ] || return 0
    awk -v name="name:$1" '
        { sub(/[ \t\r]+$/, "") }
        /^name:/ { ours = $0 == name }
        ours && sub(/^package_path:[ \t]*/, "") { print; exit }' \
        "$target/conf/ascend_package_load.ini"
}

add_record() {
    ini=$target/conf/ascend_package_load.ini
    [ -z "$(listed_path "$1")" ] || return 0
    {
        if [ -s "$ini" ]; then
            cat "$ini"
            [ -z "$(tail -c 1 "$ini")" ] || echo # the last line may lack its end
        fi
        printf 'name:%s\ninstall_path:2\noptional:true\npackage_path:%s\nload_as_per_soc:false\n' \
            "$1" "$2"
    } | replace_list
}

# Only the record that was added for this path, with its four lines.
remove_record() {
    [ "$(listed_path "$1")" = "$2" ] || return 0
    awk -v name="name:$1" '
        { line = $0; sub(/[ \t\r]+$/, "", line) }
        line == name { skip = 5 }
        skip > 0 { skip--; next }
        { print }' "$target/conf/ascend_package_load.ini" | replace_list
}

# ---- one package: $list is its list of files ----

packages_in() {
    grep '^opp/vendors/[^/]*/aicpu/kernel/[^/]*\.tar\.gz$' "$1"
}

# Two vendors may not ship a kernel package of the same name: only the first would be loaded.
check_names() {
    packages_in "$list" | while IFS= read -r file; do
        listed=$(listed_path "$(basename "$file")")
        [ -z "$listed" ] || [ "$listed" = "$(dirname "$file")" ] ||
            die "$(basename "$file") is already installed in $target/$listed: uninstall that first"
    done || exit 1
}

# Also the directories that become empty, except the one that an installation comes with.
remove_file() {
    rm -f "$target/$1" || die "cannot remove $target/$1"
    (CDPATH='' cd "$target" && rmdir -p "$(dirname "$1")" 2>/dev/null)
    [ ! -e "$target/set_env.sh" ] || make_directory "$target/opp/vendors"
}

# $1: a list of files that are installed. It is one of them; the shell has it open till the end.
remove_package() {
    packages_in "$1" | while IFS= read -r file; do
        with_list_locked remove_record "$(basename "$file")" "$(dirname "$file")" || exit 1
    done || exit 1
    rmdir "$target/conf" 2>/dev/null # if nothing but the record was there
    while IFS= read -r file; do
        remove_file "$file"
    done <"$1" || exit 1
    ls "$target/$scripts"/*.files >/dev/null 2>&1 && return
    for file in $shared; do
        remove_file "$scripts/$file"
    done
}

copy_file() {
    make_directory "$(dirname "$target/$1")"
    cp -f "$root/$1" "$target/$1" || die "cannot write $target/$1"
}

# The administrator who installs a package says by that: this installation may run it.
sign_and_allow() {
    packages_in "$list" | while IFS= read -r file; do
        hcomm=$target/bin/hcomm
        [ -x "$hcomm" ] || hcomm=${ASCEND_HOME_PATH:-}/bin/hcomm
        if [ -x "$hcomm" ]; then
            ASCEND_HOME_PATH=$target "$hcomm" package sign "$target/$file" >/dev/null ||
                die "cannot sign $target/$file"
            log INFO "signed $file"
        else
            log WARNING "$target has no bin/hcomm: $file is not signed"
        fi
        with_list_locked add_record "$(basename "$file")" "$(dirname "$file")" || exit 1
        log INFO "allowed $(basename "$file") in conf/ascend_package_load.ini"
    done || exit 1
}

has_conflict() {
    while IFS= read -r file; do
        [ -e "$target/$file" ] && return
    done <"$list"
    return 1
}

# A package that is there already is taken out first, whatever version it was.
replace_old() {
    has_conflict || return 0
    if [ "$quiet" = n ]; then
        printf '%s is already installed in %s. Replace it? [y/N] ' "$package" "$target"
        answer=
        read -r answer
        case $answer in
        y | Y) ;;
        *)
            log INFO "nothing was changed"
            exit 0
            ;;
        esac
    fi
    [ ! -e "$target/$scripts/$package.files" ] || remove_package "$target/$scripts/$package.files"
    while IFS= read -r file; do
        rm -f "$target/$file" || die "cannot remove $target/$file"
    done <"$list"
}

install_package() {
    [ "$target" != "$root" ] || die "$package is installed here already; install from its .run file"
    check_names
    replace_old
    while IFS= read -r file; do
        copy_file "$file"
    done <"$list" || exit 1
    for file in $shared; do
        rm -f "$target/$scripts/$file"
        copy_file "$scripts/$file"
    done
    sign_and_allow
    log INFO "$package is installed in $target/${scripts%/scripts}"
}

uninstall_package() {
    [ -e "$target/$scripts/$package.files" ] || die "$package is not installed in $target"
    remove_package "$target/$scripts/$package.files"
    log INFO "$package is removed from $target/${scripts%/scripts}"
}

# ---- options ----

action=install
install_path=
only=
while [ $# -gt 0 ]; do
    case $1 in
    --install) action=install ;;
    --uninstall) action=uninstall ;;
    --uninstall-here)
        action=uninstall
        target=$root
        shift
        only=$*
        break
        ;;
    --install-path=*) install_path=${1#*=} ;;
    --quiet) quiet=y ;;
    --*) log WARNING "option $1 is not known and is ignored" ;;
    *) break ;;
    esac
    shift
done

[ -n "$target" ] || find_target
for list in "$here"/*.files; do
    [ -e "$list" ] || die "$here has no list of files"
    package=$(basename "$list" .files)
    case " $only " in
    "  " | *" ${package#hccl_custom_} "*) ;;
    *) continue ;;
    esac
    if [ "$action" = install ]; then
        install_package
    else
        uninstall_package
    fi
done

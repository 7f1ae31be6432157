#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Builds the package of a custom operator: build_out/cann-hccl_custom_<ops>_linux-<arch>.run
set -euo pipefail

usage() {
    cat <<'END'
usage: bash build.sh --vendor=VENDOR --ops=OPS --custom_ops_path=DIR [options]

  --vendor=VENDOR          installs into opp/vendors/VENDOR
  --ops=OPS                name of the operator package
  --custom_ops_path=DIR    the operator's project; its CMakeLists.txt calls hcomm_add_operator()
  --enable-sign            sign the kernel package here too; the installer signs it anyway
  --sign-script=FILE       program that signs: gets the .tar.gz as its argument; implies --enable-sign
  --version=VERSION        for projects that ask for VERSION_INFO
  -h, --help               this text

Uses the installation that set_env.sh has set (ASCEND_HOME_PATH), or build/sdk (`make sdk`).
END
}

die() {
    echo "build.sh: $1" >&2
    exit 1
}

here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P)
vendor='' ops='' project='' sign=OFF sign_script='' version=''
while [ $# -gt 0 ]; do
    case $1 in
    --sign-script | --version | --vendor | --ops | --custom_ops_path) # the value may stand apart
        [ $# -ge 2 ] || die "$1 needs a value"
        set -- "$1=$2" "${@:3}"
        continue
        ;;
    --vendor=*) vendor=${1#*=} ;;
    --ops=*) ops=${1#*=} ;;
    --custom_ops_path=*) project=${1#*=} ;;
    --enable-sign) sign=ON ;;
    --sign-script=*) sign=ON sign_script=${1#*=} ;;
    --version=*) version=${1#*=} ;;
    -h | --help)
        usage
        exit 0
        ;;
    *) die "unknown option $1; bash build.sh --help lists them" ;;
    esac
    shift
done

name='^[A-Za-z0-9_][A-Za-z0-9_.-]*$'
[ -n "$vendor" ] || die "--vendor=VENDOR is missing"
[ -n "$ops" ] || die "--ops=OPS is missing"
[ -n "$project" ] || die "--custom_ops_path=DIR is missing"
[[ $vendor =~ $name ]] || die "--vendor=$vendor: use letters, digits, _, - and ."
[[ $ops =~ $name ]] || die "--ops=$ops: use letters, digits, _, - and ."
[ -f "$project/CMakeLists.txt" ] || die "--custom_ops_path=$project: there is no CMakeLists.txt"
project=$(CDPATH='' cd "$project" && pwd -P)
if [ -n "$sign_script" ]; then
    [ -x "$sign_script" ] || die "--sign-script=$sign_script is not a program"
    sign_script=$(realpath "$sign_script")
fi

sdk=${ASCEND_HOME_PATH:-}
[ -n "$sdk" ] || sdk=$here/build/sdk
package=$sdk/lib64/cmake/hcomm/hcomm-config.cmake
[ -f "$package" ] || die "no installation in $sdk: run make sdk, or source set_env.sh of one"
command -v cmake >/dev/null || die "cmake is missing"
if command -v ninja >/dev/null; then
    export CMAKE_GENERATOR=${CMAKE_GENERATOR:-Ninja}
fi

work=$here/build_out/_cmake/$vendor-$ops
options=(
    -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS=${CFLAGS-}" "-DCMAKE_CXX_FLAGS=${CXXFLAGS-}"
    "-DCMAKE_PROJECT_INCLUDE=$package" "-DCMAKE_PREFIX_PATH=$sdk"
    "-DASCEND_CANN_PACKAGE_PATH=$sdk" -DENABLE_CUSTOM=ON
    "-DCUSTOM_OPS_PATH=$project" "-DCUSTOM_OPS_NAME=$ops" "-DCUSTOM_OPS_VENDOR=$vendor"
    "-DENABLE_SIGN=$sign" "-DCUSTOM_SIGN_SCRIPT=$sign_script" "-DVERSION_INFO=$version"
    --no-warn-unused-cli)

# configure_and_build DIRECTORY TARGET OPTION...: its output is shown only if it fails
configure_and_build() {
    local dir=$1 target=$2 log=$1.log
    mkdir -p "$dir"
    # A directory that was configured for another installation or place starts anew.
    printf '%s\n' "${options[@]}" "${@:3}" >"$dir.options"
    if ! cmp -s "$dir.options" "$dir/options"; then
        rm -rf "$dir"
        mkdir -p "$dir"
    fi
    { cmake -S "$project" -B "$dir" "${options[@]}" "${@:3}" &&
        mv "$dir.options" "$dir/options" &&
        cmake --build "$dir" --target "$target"; } >"$log" 2>&1 || {
        cat "$log" >&2
        die "building $project failed; the output is above and in $log"
    }
}

configure_and_build "$work/device" custom_aicpu -DKERNEL_MODE=ON
configure_and_build "$work/host" all "-DBUILD_DEVICE_DIR=$work/device"

rm -rf "$work/stage"
cmake --install "$work/host" --component hccl --prefix "$work/stage" >"$work/install.log" 2>&1 || {
    cat "$work/install.log" >&2
    die "installing $project into the package failed"
}
[ -d "$work/stage/opp/vendors/$vendor" ] || die "$project installs nothing (COMPONENT hccl)"
"$sdk/share/hcomm/custom/pack.sh" "$work/stage" "$vendor" "$ops" "$here/build_out"

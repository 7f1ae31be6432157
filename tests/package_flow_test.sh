#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# package_flow_test.sh SOURCE BUILD: the SDK prefix and the operator packages, as users meet them.
# Everything happens in a temporary directory with a blank in its name.
set -euo pipefail

source_dir=$1
build_dir=$2
run_name=cann-hccl_custom_p2p_linux-$(uname -m).run
package=opp/vendors/cust/aicpu/kernel/aicpu_hccl_custom_p2p.tar.gz
unset "${!ASCEND_@}" "${!HCCL_@}" "${!HCOMM_@}"
unset LD_LIBRARY_PATH CMAKE_PREFIX_PATH PKG_CONFIG_PATH MAKEFLAGS MAKELEVEL

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
work="$scratch/a b"
sdk="$work/sdk one"
list="$sdk/conf/ascend_package_load.ini"
mkdir -p "$work"
cp -r "$source_dir/build.sh" "$source_dir/examples" "$work/"
rm -f "$work/examples/04_custom_ops_p2p/testcase/p2p_test"
cd "$work"

# ---- what the tests say ----

claim=
fail() {
    echo "FAILED: $claim: $*" >&2
    [ ! -s "$scratch/out" ] || sed 's/^/    /' "$scratch/out" >&2
    exit 1
}

# Runs the command; its output goes to a file that fail() shows.
quietly() {
    "$@" >"$scratch/out" 2>&1 </dev/null
}
must() {
    quietly "$@" || fail "$* failed"
}
must_not() {
    ! quietly "$@" || fail "$* succeeded"
}
says() {
    grep -qF -- "$1" "$scratch/out" || fail "no word of: $1"
}

# run_sample [ROUNDS]: fails or prints what it should
run_sample() {
    quietly timeout 60 make -s --no-print-directory -C examples/04_custom_ops_p2p/testcase test \
        ROUNDS="${1:-1}"
}
printed_by_sample() { # rounds
    echo "Found 8 NPU device(s) available"
    for rank in 1 3 5 7; do
        echo "rankId: $rank, output: [$(printf " $((rank - 2 + $1))%.0s" 1 2 3 4 5 6 7 8) ]"
    done
}
sample_works() {
    run_sample "${1:-1}" || fail "the sample fails"
    printed_by_sample "${1:-1}" | cmp -s - "$scratch/out" || fail "the sample prints something else"
}
sample_refused() { # what the message must have
    ! run_sample || fail "the sample runs"
    says "$1"
}

in_sdk() {
    (cd "$sdk" && find . | sort)
}
installer() {
    quietly "./build_out/$run_name" "$@"
}

# ---- the SDK ----

the_sdk_has_what_programs_look_for() {
    must cmake --install "$build_dir" --prefix "$sdk"
    for file in set_env.sh include/acl/acl.h include/hccl/hccl.h include/hcomm/hcomm_primitives.h \
        include/securec.h include/version/cann_version.h devlib/device/libccl_kernel.so \
        pkg_inc/base/log_types.h conf/ascend_package_load.ini opp/vendors bin/hcomm bin/npu-smi \
        "$(uname -m)-linux/include/acl/acl.h" "$(uname -m)-linux/lib64/libhcomm.so" \
        "$(uname -m)-linux/pkg_inc/acl/acl.h" share/info/hcomm/version.info; do
        [ -e "$sdk/$file" ] || fail "$file is missing"
    done
    for name in acl_rt ascendcl runtime hcomm hccl c_sec unified_dlog ccl_kernel ascendc_runtime \
        profapi ascendalog error_manager ascend_dump msprofiler ascend_hal; do
        [ -e "$sdk/lib64/lib$name.so" ] || fail "lib$name.so is missing"
    done
    must readelf -d "$sdk/lib64/libhccl.so"
    says "[libhcomm.so]"
    # shellcheck disable=SC2016
    says '[$ORIGIN]'
}

nothing_in_the_sdk_knows_where_it_was_built() {
    ! quietly grep -rlF --exclude='lib*.so' -e "$build_dir" -e "$source_dir" \
        "$sdk/share" "$sdk/lib64" "$sdk/set_env.sh" || fail "these do"
}

installing_again_keeps_the_list_of_packages() {
    echo "# mine" >>"$list"
    must cmake --install "$build_dir" --prefix "$sdk"
    must grep -q "# mine" "$list"
    sed -i '/# mine/d' "$list"
}

set_env_works_in_every_shell() {
    for shell in bash "bash --posix" dash zsh; do
        command -v "${shell%% *}" >/dev/null || continue
        # shellcheck disable=SC2086,SC2016
        must env -i PATH="$PATH" $shell -euc '
            . "$0/set_env.sh"
            . "$0/set_env.sh"
            test "$ASCEND_HOME_PATH|$ASCEND_TOOLKIT_HOME|$ASCEND_OPP_PATH" = "$0|$0|$0/opp"
            test "$LD_LIBRARY_PATH|$CMAKE_PREFIX_PATH" = "$0/lib64|$0"
            case $PATH in "$0/bin":*) ;; *) exit 1 ;; esac
            cd "$0"
            unset ASCEND_HOME_PATH
            . ./set_env.sh
            test "$ASCEND_HOME_PATH" = "$0"' "$sdk"
    done
}

# ---- programs ----

names=(-lacl_rt -lhcomm -lhccl -lascendcl -lc_sec -lruntime -lunified_dlog -lccl_kernel
    -lascendc_runtime -lprofapi -lascendalog -lerror_manager -lascend_dump -lmsprofiler -lascend_hal)

write_program() {
    cat >program.c <<'END'
#include <string.h>

#include <acl/acl.h>
#include <base/dlog_pub.h>
#include <hccl/hccl.h>
#include <hccl/hccl_comm.h>
#include <hccl/hcomm_primitives.h>
#include <securec.h>
#include <version/cann_version.h>

int
main(int argc, char **argv)
{
    char name[] = "hcomm", version[128] = "";
    char buf[8];
    int32_t number = 0;
    uint32_t count = 0;
    HcclRootInfo info;

    if (aclInit(NULL) != 0 || aclrtGetDeviceCount(&count) != 0 || count == 0)
        return 1;
    if (strcpy_s(buf, sizeof(buf), "text") != 0)
        return 2;
    if (aclsysGetVersionNum(name, &number) != 0 || number < CANN_VERSION_NUM)
        return 3;
    if (aclsysGetVersionStr(name, version) != 0 || argc < 2 || strcmp(version, argv[1]) != 0)
        return 4;
    if (aclrtSetDevice(0) != 0 || HcclGetRootInfo(&info) != 0)
        return 5;
    if (HcclAllReduce(NULL, NULL, 0, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, NULL, NULL) == 0)
        return 6;
    return aclrtResetDevice(0) != 0 || aclFinalize() != 0 ? 7 : 0;
}
END
}

run_program() {
    must ./program "$(sed -n 's/^version=//p' "$sdk/share/info/hcomm/version.info")"
}

programs_link_every_name_and_run() {
    write_program
    for position in "-fPIE -pie" "-fno-pie -no-pie"; do
        # shellcheck disable=SC2086
        must gcc -std=c11 -Wall -Wextra -Werror $position program.c -o program \
            -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" -Wl,--no-as-needed "${names[@]}"
        run_program
    done
    # The flags of the original sample's test program.
    must g++ -x c++ -std=c++14 -Werror -fstack-protector-strong -fPIE -pie -O2 -s program.c -o program \
        -I"$ASCEND_HOME_PATH/include" -L"$ASCEND_HOME_PATH/lib64" -x none -Wl,-z,relro -Wl,-z,now \
        -Wl,-z,noexecstack -Wl,--copy-dt-needed-entries -lhccl
    run_program
}

weak_names_are_found_through_other_libraries() {
    cat >weak.c <<'END'
int HcclGetRankSize(void *comm, unsigned *size) __attribute__((weak));
int main(void) { return HcclGetRankSize == 0; }
END
    for position in "-fPIE -pie" "-fno-pie -no-pie"; do
        # shellcheck disable=SC2086
        must gcc $position weak.c -o weak -L"$sdk/lib64" -Wl,--no-as-needed -lhccl
        must ./weak
    done
}

build_systems_find_the_sdk() {
    mkdir -p user
    cat >user/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(user LANGUAGES C)
find_package(hcomm 9.0 REQUIRED)
add_executable(program ../program.c)
target_link_libraries(program PRIVATE hcomm::hccl acl_rt acl_rt_headers ascend_hal hcomm::c_sec)
END
    must cmake -S user -B user/build
    must cmake --build user/build
    mv user/build/program program
    run_program
    if command -v pkg-config >/dev/null; then
        flags=$(pkg-config --cflags --libs hccl)
        eval "must gcc program.c -o program $flags"
        run_program
    fi
}

# ---- operator packages ----

build_sh_says_what_is_wrong() {
    must_not bash build.sh --ops=p2p --custom_ops_path=examples/04_custom_ops_p2p
    says "--vendor=VENDOR is missing"
    must_not bash build.sh --vendor=cust --ops=p2p --custom_ops_path=nowhere
    says "there is no CMakeLists.txt"
    must_not bash build.sh --vendor=../x --ops=p2p --custom_ops_path=examples/04_custom_ops_p2p
    must_not bash build.sh --vendor
    must_not bash build.sh --nonsense
    says "unknown option --nonsense"
    [ "$(wc -l <"$scratch/out")" -eq 1 ] || fail "more than a line"
    must env ASCEND_HOME_PATH=/nowhere bash build.sh --help
    must_not env ASCEND_HOME_PATH=/nowhere bash build.sh --vendor=cust --ops=p2p \
        --custom_ops_path=examples/04_custom_ops_p2p
    says "no installation in /nowhere"
}

build_sh_makes_the_package() {
    must bash build.sh --vendor=cust --ops=p2p --custom_ops_path=./examples/04_custom_ops_p2p
    [ -x "build_out/$run_name" ] || fail "$run_name is missing"
    installer --check || fail "--check"
    installer --list || fail "--list"
    says "opp/vendors/cust/lib64/libhccl_custom_p2p.so"
    installer --help || fail "--help"
    says "--install-path=DIR"
    installer --info || fail "--info"
    says CANN_HCCL_RUN_PACKAGE
    installer --extract=unpacked || fail "--extract"
    [ -f unpacked/opp/vendors/cust/scripts/install.sh ] || fail "nothing was unpacked"
    tar xzf "unpacked/$package"
    must sh -c 'cd aicpu_kernels_device && sha256sum -c bin_hash.cfg'
}

# Original projects come in two passes, with their own calls and languages.
write_original_project() {
    sample="$work/examples/04_custom_ops_p2p"
    mkdir -p original
    cat >original/triple.asc <<'END'
#include "triple.h"
extern "C" int
LaunchTriple(int *value, aclrtStream stream)
{
    Triple<<<1, nullptr, stream>>>(&value, sizeof(value));
    Triple<<<2, nullptr,
             stream>>>(&value, sizeof(value));
    return aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}
END
    cat >original/triple.aicpu <<'END'
#include "triple.h"
extern "C" __global__ __aicpu__ uint32_t
Triple(void *args)
{
    **static_cast<int **>(args) *= 3;
    return 0;
}
END
    cat >original/triple.h <<'END'
#include <acl/acl.h>
#include <aicpu_api.h>
extern "C" __global__ __aicpu__ uint32_t Triple(void *args);
END
    cat >triple.c <<'END'
#include <acl/acl.h>
int LaunchTriple(int *value, aclrtStream stream);
int main(void)
{
    aclrtStream stream;
    int value = 1;
    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || aclrtCreateStream(&stream) != 0 ||
        LaunchTriple(&value, stream) != 0 || aclrtSynchronizeStream(stream) != 0)
        return 1;
    return value == 27 ? 0 : 2;
}
END
    sed "s|SAMPLE|$sample|g" >original/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
find_package(ASC REQUIRED)
find_package(AICPU REQUIRED)
project(original LANGUAGES C CXX AICPU ASC)
include_directories("SAMPLE/inc" "SAMPLE/op_host" "SAMPLE/op_kernel_aicpu"
                    "${ASCEND_CANN_PACKAGE_PATH}/include" "${ASCEND_CANN_PACKAGE_PATH}/pkg_inc"
                    "${ASCEND_CANN_PACKAGE_PATH}/asc/include/aicpu_api")
if(KERNEL_MODE)
    add_library(p2p_aicpu_kernel SHARED "SAMPLE/op_kernel_aicpu/p2p_kernel.c"
                "SAMPLE/op_kernel_aicpu/p2p_exec.c")
    target_link_libraries(p2p_aicpu_kernel PRIVATE ccl_kernel)
    cann_pack_targets_and_files(OUTPUT_TARGET pack_p2p OUTPUT aicpu_hccl_custom_p2p.tar.gz
        TARGETS p2p_aicpu_kernel MANIFEST bin_hash.cfg TAR_ROOT_DIR aicpu_kernels_device)
    add_cann_sign_file(INPUT ${CMAKE_CURRENT_BINARY_DIR}/aicpu_hccl_custom_p2p.tar.gz
        CONFIG "SAMPLE/scripts/p2p_check_cfg.xml" RESULT_VAR signed DEPENDS pack_p2p)
    register_custom_aicpu_target(sign_aicpu_hccl_custom_p2p)
else()
    set_source_files_properties(triple.aicpu PROPERTIES LANGUAGE AICPU)
    add_library(hccl_custom_p2p SHARED "SAMPLE/op_host/p2p_op.c" "SAMPLE/op_host/p2p_resource.c"
                "SAMPLE/op_host/p2p_launch.c" triple.asc triple.aicpu)
    target_compile_options(hccl_custom_p2p PRIVATE -Werror -g
        $<$<COMPILE_LANGUAGE:ASC>:--npu-arch=dav-2201 -std=c++14>)
    target_link_libraries(hccl_custom_p2p PRIVATE hcomm c_sec unified_dlog ascendcl runtime)
    set_target_properties(hccl_custom_p2p PROPERTIES LINKER_LANGUAGE CXX)
    install(TARGETS hccl_custom_p2p LIBRARY DESTINATION ${CUSTOM_OPS_LIB_PATH} COMPONENT hccl)
    install(FILES "SAMPLE/inc/hccl_custom_p2p.h" DESTINATION ${CUSTOM_OPS_INC_PATH} COMPONENT hccl)
    install(FILES "SAMPLE/op_kernel_aicpu/libp2p_aicpu_kernel.json"
            DESTINATION ${CUSTOM_OPS_AICPU_CONFIG_PATH} COMPONENT hccl)
    install(FILES ${BUILD_DEVICE_DIR}/signatures/aicpu_hccl_custom_p2p.tar.gz
            DESTINATION ${CUSTOM_OPS_AICPU_KERNEL_PATH} COMPONENT hccl)
endif()
END
}

projects_of_the_original_shape_are_packed() {
    write_original_project
    must bash build.sh --vendor=other --ops=p2p --custom_ops_path=original --enable-sign
    installer --list || fail "--list"
    for file in aicpu/config/libp2p_aicpu_kernel.json aicpu/kernel/aicpu_hccl_custom_p2p.tar.gz \
        include/hccl_custom_p2p.h lib64/libhccl_custom_p2p.so scripts/install.sh; do
        says "./opp/vendors/other/$file"
    done
    installer --extract=signed || fail "--extract"
    must hcomm package verify "signed/opp/vendors/other/aicpu/kernel/aicpu_hccl_custom_p2p.tar.gz"
}

the_launch_form_of_asc_sources_works() {
    library_dir="$work/signed/opp/vendors/other/lib64"
    must gcc triple.c -o triple -I"$sdk/include" -L"$sdk/lib64" -L"$library_dir" \
        -lhccl_custom_p2p -lacl_rt
    must env LD_LIBRARY_PATH="$library_dir:$LD_LIBRARY_PATH" ./triple
    sleep 1 # file times of make
    touch original/triple.h
    must bash build.sh --vendor=other --ops=p2p --custom_ops_path=original
    grep -q triple.asc build_out/_cmake/other-p2p/host.log || fail "headers are not dependencies"
}

cmake_alone_makes_the_package() {
    must cmake -S examples/04_custom_ops_p2p -B alone
    must cmake --build alone --target hcomm_run_package
    must "alone/$run_name" --check
}

the_installer_puts_the_package_into_the_sdk() {
    in_sdk >before
    cp "$list" list.before
    must bash build.sh --vendor=cust --ops=p2p --custom_ops_path=./examples/04_custom_ops_p2p
    installer --install --install-path="$sdk" || fail "--install"
    for file in include/hccl_custom_p2p.h lib64/libhccl_custom_p2p.so scripts/install.sh \
        scripts/uninstall.sh aicpu/config/libp2p_aicpu_kernel.json \
        aicpu/kernel/aicpu_hccl_custom_p2p.tar.gz; do
        [ -r "$sdk/opp/vendors/cust/$file" ] || fail "$file is missing"
    done
    must hcomm package verify "$sdk/$package"
    must hcomm package list
    says aicpu_hccl_custom_p2p.tar.gz
    printf 'name:%s\n' aicpu_hccl_custom_p2p.tar.gz install_path:2 optional:true \
        package_path:opp/vendors/cust/aicpu/kernel load_as_per_soc:false |
        sed '2,$s/^name://' | cmp -s - <(tail -n 5 "$list") || fail "the record is another"
}

the_installer_asks_before_it_replaces() {
    touch "$sdk/opp/vendors/cust/lib64/libhccl_custom_p2p.so" -d 2001-01-01
    installer --install || fail "the answer no is no error"
    says "nothing was changed"
    [ "$(date -r "$sdk/opp/vendors/cust/lib64/libhccl_custom_p2p.so" +%Y)" = 2001 ] || fail "it did"
    for options in "--install --quiet" "--quiet"; do
        # shellcheck disable=SC2086
        installer $options || fail "$options"
        [ ! -s "$scratch/out" ] || fail "$options is not quiet"
    done
    [ "$(grep -c '^name:' "$list")" -eq 1 ] || fail "the list has it twice"
}

the_sample_builds_and_runs() {
    must make -C examples/04_custom_ops_p2p/testcase CC=g++ STD=c++14
    sample_works
    must make -C examples/04_custom_ops_p2p/testcase clean
    must make -C examples/04_custom_ops_p2p/testcase
    for sync in thread aclrt; do
        export HCCL_CUSTOM_P2P_SYNC=$sync
        sample_works
        sample_works 3 # from the second round on, the resources are found again
    done
    unset HCCL_CUSTOM_P2P_SYNC
}

# ---- trust ----

a_package_must_be_listed() {
    cp "$list" list.good
    cp list.before "$list"
    sample_refused "hcomm package allow"
    must hcomm package allow "$sdk/$package"
    sample_works
    cp list.good "$list"
}

# What the message says is what helps.
a_package_must_be_signed_and_unaltered() {
    cp "$sdk/$package" good.tar.gz
    cp "unpacked/$package" "$sdk/$package"
    sample_refused "hcomm package sign $sdk/$package"
    says "npu-smi set -t custom-op-secverify-enable -i"
    must hcomm package sign "$sdk/$package"
    sample_works
    printf 'X' | dd of="$sdk/$package" bs=1 seek=200 conv=notrunc status=none
    sample_refused "altered after it was signed"
    cp good.tar.gz "$sdk/$package"
    sample_works
}

verification_can_be_switched_off() {
    cp "unpacked/$package" "$sdk/$package"
    for npu in 0 1 2 3 4 5 6 7; do
        must npu-smi set -t custom-op-secverify-enable -i $npu -d 1
        must npu-smi set -t custom-op-secverify-mode -i $npu -d 0
    done
    sample_works
    rm "$sdk/conf/hcomm-secverify.json"
    sample_refused "unsigned"
    cp good.tar.gz "$sdk/$package"
}

# ---- and away again ----

uninstalling_leaves_nothing() {
    installer --uninstall || fail "--uninstall"
    in_sdk | diff before - >"$scratch/out" || fail "the files differ"
    cmp -s "$list" list.before || fail "the list differs"
    must_not "build_out/$run_name" --uninstall
    says "is not installed"
    installer --quiet || fail "installing again"
    must sh "$sdk/opp/vendors/cust/scripts/uninstall.sh"
    in_sdk | diff before - >"$scratch/out" || fail "uninstall.sh leaves files"
    cmp -s "$list" list.before || fail "uninstall.sh leaves the record"
}

the_target_is_found_as_documented() {
    must_not "build_out/$run_name" --install --install-path=relative
    says "give an absolute path"
    must_not env -u ASCEND_OPP_PATH "build_out/$run_name" --install
    must_not env ASCEND_OPP_PATH=/nowhere/opp "build_out/$run_name" --install
    mkdir plain
    installer --install --install-path="$work/plain" || fail "a plain directory"
    [ -d plain/cann/opp/vendors/cust ] || fail "not in DIR/cann"
    installer --install --install-path="$work/x/Ascend/cann-9" || fail "Ascend/cann-9"
    [ -d x/Ascend/cann-9/opp/vendors/cust ] || fail "not in DIR"
    must env ASCEND_CUSTOM_OPP_PATH="$work/custom" "build_out/$run_name" --install
    [ -d custom/opp/vendors/cust ] || fail "not in ASCEND_CUSTOM_OPP_PATH"
    must env ASCEND_CUSTOM_OPP_PATH="$work/custom" "build_out/$run_name" --uninstall
    [ ! -e custom/opp ] || fail "uninstalling leaves empty directories"
}

a_list_without_a_last_newline_is_continued() {
    printf '# no newline' >"$list"
    installer --quiet || fail "--quiet"
    must hcomm package list
    [ "$(sed -n 2p "$list")" = "name:aicpu_hccl_custom_p2p.tar.gz" ] || fail "the record has no line"
    installer --uninstall || fail "--uninstall"
    cp list.before "$list"
}

two_vendors_cannot_ship_the_same_kernels() {
    installer --quiet || fail "--quiet"
    must bash build.sh --vendor=other --ops=p2p --custom_ops_path=original
    must_not "build_out/$run_name" --install
    says "uninstall that first"
    [ ! -e "$sdk/opp/vendors/other" ] || fail "something was installed"
}

# An operator without kernels, too.
packages_of_one_vendor_live_side_by_side() {
    mkdir -p second
    echo 'int second(void); int second(void) { return 2; }' >second/second.c
    cat >second/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.18)
project(second LANGUAGES C)
find_package(hcomm REQUIRED)
hcomm_add_operator(NAME second HOST_SOURCES second.c)
END
    must bash build.sh --vendor=cust --ops=second --custom_ops_path=second
    second="build_out/${run_name/p2p/second}"
    must "$second" --quiet
    installer --quiet || fail "--quiet"
    must "$second" --uninstall
    must_not "$second" --uninstall
    [ -x "$sdk/opp/vendors/cust/scripts/uninstall.sh" ] || fail "the scripts went with it"
    sample_works
    must "$second" --quiet
    must sh "$sdk/opp/vendors/cust/scripts/uninstall.sh" p2p
    [ -e "$sdk/opp/vendors/cust/lib64/libhccl_custom_second.so" ] || fail "the other went, too"
    must sh "$sdk/opp/vendors/cust/scripts/uninstall.sh"
    in_sdk | diff before - >"$scratch/out" || fail "files are left"
}

signing_can_be_somebody_elses() {
    # shellcheck disable=SC2016
    printf '#!/bin/sh\nprintf "header" | cat - "$1" >"$1.new" && mv "$1.new" "$1"\n' >"my sign"
    chmod +x "my sign"
    must bash build.sh --vendor=cust --ops=p2p --custom_ops_path=examples/04_custom_ops_p2p \
        --sign-script "my sign"
    installer --extract=foreign || fail "--extract"
    must grep -qa '^header' "foreign/$package"
    installer --quiet || fail "--quiet"
    sample_works
    sed -i 's/aicpu_hccl_custom_p2p/another/g' examples/04_custom_ops_p2p/scripts/p2p_check_cfg.xml
    must_not bash build.sh --vendor=cust --ops=p2p --custom_ops_path=examples/04_custom_ops_p2p
    says "signing configuration"
}

run() {
    claim=${1//_/ }
    "$1"
    echo "ok: $claim"
}

run the_sdk_has_what_programs_look_for
run nothing_in_the_sdk_knows_where_it_was_built
run installing_again_keeps_the_list_of_packages
run set_env_works_in_every_shell
# shellcheck disable=SC1091
. "$sdk/set_env.sh"
run programs_link_every_name_and_run
run weak_names_are_found_through_other_libraries
run build_systems_find_the_sdk
run build_sh_says_what_is_wrong
run build_sh_makes_the_package
run projects_of_the_original_shape_are_packed
run the_launch_form_of_asc_sources_works
run cmake_alone_makes_the_package
run the_installer_puts_the_package_into_the_sdk
run the_installer_asks_before_it_replaces
run the_sample_builds_and_runs
run a_package_must_be_listed
run a_package_must_be_signed_and_unaltered
run verification_can_be_switched_off
run uninstalling_leaves_nothing
run the_target_is_found_as_documented
run a_list_without_a_last_newline_is_continued
run packages_of_one_vendor_live_side_by_side
run two_vendors_cannot_ship_the_same_kernels
run signing_can_be_somebody_elses

/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels up to their code: descriptions, handles, libraries, trust. Handle tables stay for the
 * process' lifetime. */
#define _GNU_SOURCE
#include "runtime/kernel.h"

#include <archive.h>
#include <archive_entry.h>

#include "runtime/allow_list.h"
#include "runtime/kernel_elf.h"
#include "runtime/kernel_lib.h"
#include "runtime/sign.h"
#include "tests/support/kernels.h"

/* ---- descriptions ---- */

TEST_WITH(descriptions_that_cannot_be_read_name_file_and_line, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary = NULL;

    install();
    test_expect_error("none.json: cannot open the kernel description");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("none.json", 0, &binary));
    write_text("a.json", "{\n\n  rubbish");
    test_expect_error("a.json:3: not a kernel description");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("a.json", 0, &binary));
    write_text("a.json", "{" STATEFUL("Echo") ",\n");
    test_expect_error("a.json:2: not a kernel description");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("a.json", 0, &binary));
    write_text("a.json", "");
    test_expect_error("a.json:1: not a kernel description");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("a.json", 0, &binary));
    write_text("a.json", "[1]");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("a.json", 0, &binary));
    EXPECT_NULL(binary);
    EXPECT_EQ(0, hc_handle_live(&rt_binary_table));
}

TEST_WITH(odd_entries_are_left_out_and_the_first_of_a_name_counts, TEST_KEEPS_MEMORY)
{
    aclrtFuncHandle function = NULL;
    aclrtBinHandle binary = NULL;
    uint32_t value;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    write_text("a.json",
               "{ \"one\": 17, \"two\": {}, \"three\": {\"opInfo\": {\"kernelSo\": 3}} , " ENTRY(
                   "WriteAnswer", "stateless_kernel.so",
                   "WriteAnswer") "\n,\t" ENTRY("WriteAnswer", "none.so", "None") " }\n");
    EXPECT_EQ(0, load_as("a.json", 0, &binary));
    EXPECT_EQ(1, test_logged("kernel one is left out"));
    EXPECT_EQ(1, test_logged("kernel two is left out"));
    EXPECT_EQ(1, test_logged("kernel three is left out"));
    test_expect_error("no kernel \"one\"");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "one", &function));
    EXPECT_NULL(function);
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(42, value);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(a_description_has_a_bound, TEST_KEEPS_MEMORY)
{
    enum { KERNELS = 16385, ENTRY_LEN = 24 };
    char *text = calloc(KERNELS, ENTRY_LEN);
    aclrtBinHandle binary = NULL;
    size_t len = 0;

    install();
    EXPECT_NOT_NULL(text);
    for (int i = 0; i < KERNELS; i++)
        len += (size_t)sprintf(text + len, "%c\"%05d\":{\"opInfo\":{}}", i == 0 ? '{' : ',', i);
    text[len] = '}';
    write_text("a.json", text);
    free(text);
    test_expect_error("kernel 16384: a binary has at most 16384 kernels");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("a.json", 0, &binary));
    EXPECT_NULL(binary);
}

TEST_WITH(the_extension_is_replaced, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary = NULL;

    install();
    EXPECT_EQ(0, load_as("k.so", 0, &binary));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
    EXPECT_EQ(0, load_as("k.o", 0, &binary));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(load_options_are_checked, TEST_KEEPS_MEMORY)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE};
    aclrtBinaryLoadOptions options = {.options = NULL, .numOpt = 1};
    aclrtBinHandle binary = NULL;

    install();
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromFile(NULL, &options, &binary));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromFile("x", &options, NULL));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("x", &options, &binary));
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtBinaryLoadFromFile("x", NULL, &binary));
    options.options = &option;
    option.value.cpuKernelMode = 2;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("x", &options, &binary));
    option.value.cpuKernelMode = 0;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromData("x", 1, &options, &binary));
    EXPECT_EQ(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromData(NULL, 1, &options, &binary));
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromData("x", 0, &options, &binary));
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("x", &options, &binary));
    option.type = ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD;
    option.value.isLazyLoad = 2;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("x", &options, &binary));
    option.type = (aclrtBinaryLoadOptionType)77;
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("x", &options, &binary));
    EXPECT_NULL(binary);
}

/* ---- handles ---- */

TEST_WITH(stale_and_foreign_handles_are_refused, TEST_KEEPS_MEMORY)
{
    aclrtFuncHandle function, other = NULL;
    aclrtArgsHandle args = NULL;
    aclrtBinHandle binary;
    uint32_t value = 0, *out = &value;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "CountCalls");
    EXPECT_TRUE(function == get(binary, "CountCalls"));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
    test_expect_error("already destroyed");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryUnLoad(binary));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, launch(function, NULL, &out, sizeof out));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryGetFunction(binary, "CountCalls", &other));
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtKernelArgsInit(function, &args));
    test_expect_error("a handle of another kind");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, launch(binary, NULL, &out, sizeof out));
    test_expect_error("no handle at all");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, launch((void *)0x1234, NULL, &out, sizeof out));
    EXPECT_NULL(other);
    EXPECT_EQ(0, hc_handle_live(&rt_function_table));
    EXPECT_EQ(0, hc_handle_live(&rt_binary_table));
}

TEST_WITH(functions_need_a_context, TEST_KEEPS_MEMORY)
{
    aclrtFuncHandle function = NULL;
    aclrtBinHandle binary;

    install();
    binary = load();
    test_allow_errors();
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "Echo", &function));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(functions_tell_name_kind_and_binary, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary, of = NULL;
    aclrtFuncHandle function;
    int64_t kind = 0;
    char name[8];

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    function = get(binary, "Echo");
    EXPECT_EQ(0, aclrtGetFunctionName(function, sizeof name, name));
    EXPECT_STREQ("Echo", name);
    test_expect_error("the name needs 5 bytes");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtGetFunctionName(function, 4, name));
    EXPECT_EQ(0, aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &kind));
    EXPECT_EQ(ACL_KERNEL_TYPE_AICPU, kind);
    EXPECT_EQ(0, aclrtFunctionGetBinary(function, &of));
    EXPECT_TRUE(of == binary);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(loading_survives_every_failed_allocation, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary;
    long nth = 0, live;
    aclError rc;

    install();
    EXPECT_EQ(0, aclrtBinaryUnLoad(load())); /* the handle tables' own memory */
    live = hc_alloc_live();
    test_expect_error("out of host memory");
    do {
        binary = NULL;
        hc_alloc_fail_nth(nth++);
        rc = load_as("k.json", 0, &binary);
        hc_alloc_fail_nth(-1);
        if (rc != 0) {
            EXPECT_EQ(ACL_ERROR_RT_MEMORY_ALLOCATION, rc);
            EXPECT_NULL(binary);
            EXPECT_EQ(live, hc_alloc_live());
        }
    } while (rc != 0);
    EXPECT_TRUE(nth > 20);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
    EXPECT_EQ(live, hc_alloc_live());
}

/* ---- libraries ---- */

TEST_WITH(static_variables_are_per_device, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary, again;
    uint32_t value;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    again = load();
    EXPECT_EQ(1, count_on(0, binary));
    EXPECT_EQ(1, count_on(1, binary));
    EXPECT_EQ(2, count_on(0, again)); /* of the device, not of the binary */
    EXPECT_EQ(1, count_on(2, again));
    EXPECT_EQ(3, rt_kernel_lib_copies());
    for (int32_t device = 0; device < 3; device++) {
        EXPECT_EQ(0, aclrtSetDevice(device));
        EXPECT_EQ(0, run_answer(binary, &value));
        EXPECT_EQ(42, value);
    }
    EXPECT_EQ(SANITIZED ? 6 : 4, rt_kernel_lib_copies()); /* one for all three */
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
    EXPECT_NE(0, rt_kernel_lib_copies());
    EXPECT_EQ(0, aclrtBinaryUnLoad(again));
    EXPECT_EQ(0, rt_kernel_lib_copies());
    EXPECT_EQ(1, count_on(0, binary = load())); /* descriptor numbers came back, names did not */
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(variables_are_seen_in_the_file, TEST_KEEPS_MEMORY)
{
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len = 0;

    EXPECT_EQ(0, rt_path_join(path, HCOMM_TEST_KERNELS, "stateless_kernel.so"));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    EXPECT_TRUE(rt_elf_loadable(bytes, len));
    EXPECT_EQ(SANITIZED, rt_elf_has_state(bytes, len));
    for (size_t cut = 0; cut < len; cut += 97) { /* whatever is missing: no crash */
        (void)rt_elf_loadable(bytes, cut);
        (void)rt_elf_has_state(bytes, cut);
        rt_elf_make_private(bytes, cut);
    }
    hc_free(bytes);
    EXPECT_EQ(0, rt_path_join(path, HCOMM_TEST_KERNELS, "stateful_kernel.so"));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    EXPECT_TRUE(rt_elf_has_state(bytes, len));
    hc_free(bytes);
}

/* ---- the program's own libraries ---- */

TEST_WITH(mode_1_takes_the_library_beside_the_description, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle binary = NULL;
    uint32_t value;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    test_expect_error("cannot read the kernel library");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, load_as("k.json", 1, &binary));
    copy_library("stateless_kernel.so", "own.so");
    write_text("own.json", "{" ENTRY("WriteAnswer", "never_looked_for.so", "WriteAnswer") "}");
    EXPECT_EQ(0, load_as("own.json", 1, &binary));
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(42, value);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(mode_2_takes_bytes_and_registered_names, TEST_KEEPS_MEMORY)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE,
                                    .value.cpuKernelMode = 2};
    aclrtBinaryLoadOptions options = {.options = &option, .numOpt = 1};
    aclrtFuncHandle function = NULL, again = NULL;
    aclrtBinHandle binary = NULL, other;
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    uint32_t value;
    size_t len = 0;

    install();
    EXPECT_EQ(0, aclrtSetDevice(0));
    test_expect_error("no ELF object");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromData("rubbish", 7, &options, &binary));
    EXPECT_EQ(0, rt_path_join(path, HCOMM_TEST_KERNELS, "stateless_kernel.so"));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    EXPECT_EQ(0, aclrtBinaryLoadFromData(bytes, len, &options, &binary));
    hc_free(bytes); /* it was copied */
    EXPECT_EQ(0, aclrtRegisterCpuFunc(binary, "WriteAnswer", "WriteAnswer", &function));
    EXPECT_EQ(0, aclrtRegisterCpuFunc(binary, "Other", "WriteAnswer", &again));
    EXPECT_TRUE(function == again);
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(42, value);
    other = load();
    test_expect_error("CPU_KERNEL_MODE 2");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, aclrtRegisterCpuFunc(other, "x", "y", &again));
    EXPECT_EQ(0, aclrtBinaryUnLoad(other));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(bytes_from_memory_cannot_be_signed, TEST_KEEPS_MEMORY)
{
    aclrtBinaryLoadOption option = {.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE,
                                    .value.cpuKernelMode = 2};
    aclrtBinaryLoadOptions options = {.options = &option, .numOpt = 1};
    aclrtFuncHandle function = NULL;
    aclrtBinHandle binary = NULL;
    char path[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    uint32_t value;
    size_t len = 0;

    install();
    EXPECT_EQ(0, rt_secverify_set(0, &(struct rt_secverify){.enable = 0, .mode = 0}));
    EXPECT_EQ(0, aclrtSetDevice(0));
    EXPECT_EQ(0, rt_path_join(path, HCOMM_TEST_KERNELS, "stateless_kernel.so"));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    EXPECT_EQ(0, aclrtBinaryLoadFromData(bytes, len, &options, &binary));
    hc_free(bytes);
    EXPECT_EQ(0, aclrtRegisterCpuFunc(binary, "WriteAnswer", "WriteAnswer", &function));
    test_expect_error("unsigned code, given to aclrtBinaryLoadFromData: install a package, or ");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(ai_core_objects_are_not_supported, TEST_KEEPS_MEMORY)
{
    aclrtBinHandle loaded = NULL;
    aclrtBinary binary;

    test_expect_error("AI Core code cannot run");
    EXPECT_NULL((test_expect_error("data is NULL"), aclrtCreateBinary(NULL, 4)));
    binary = aclrtCreateBinary("data", 4);
    EXPECT_NOT_NULL(binary);
    EXPECT_EQ(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtBinaryLoad(binary, &loaded));
    test_expect_error("aclrtBinaryUnLoad");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryUnLoad(binary));
    EXPECT_EQ(0, aclrtDestroyBinary(binary));
    test_expect_error("is not a live aclrtBinary");
    EXPECT_EQ(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyBinary(binary));
}

/* ---- trust ---- */

TEST_WITH(unsigned_code_is_refused_until_it_is_signed_or_verification_is_off, TEST_KEEPS_MEMORY)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    aclrtBinHandle binary;
    uint32_t value;

    install();
    EXPECT_EQ(0, rt_secverify_set(0, &(struct rt_secverify){.enable = 0, .mode = 0}));
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    test_expect_error("unsigned code: run `hcomm package sign ");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, value);
    EXPECT_EQ(0, aclrtSetDevice(1)); /* whose verification is off */
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(0, aclrtSetDevice(0));
    test_expect_error("npu-smi set -t custom-op-secverify-mode -i 0 -d 0");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, rt_install_path(path, "stateless_kernel.so"));
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, run_answer(binary, &value)); /* the same function, the next try */
    EXPECT_EQ(42, value);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

#define PACKAGE_DIR "opp/vendors/v/aicpu/kernel"
#define PACKAGE PACKAGE_DIR "/k.tar.gz"

/* Puts the stateless library into a package of the installation, and a description elsewhere. */
static void
install_package(char *path)
{
    struct archive_entry *entry = archive_entry_new();
    struct archive *archive = archive_write_new();
    char library[RT_PATH_LEN];
    uint8_t *bytes = NULL;
    size_t len = 0;

    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    EXPECT_EQ(0, rt_install_path(path, PACKAGE_DIR));
    EXPECT_EQ(0, rt_dir_make(path, 0755));
    EXPECT_EQ(0, rt_install_path(path, PACKAGE));
    EXPECT_EQ(0, rt_path_join(library, HCOMM_TEST_KERNELS, "stateless_kernel.so"));
    EXPECT_EQ(0, rt_file_read(library, 1 << 26, &bytes, &len));
    archive_write_add_filter_gzip(archive);
    archive_write_set_format_ustar(archive);
    EXPECT_EQ(ARCHIVE_OK, archive_write_open_filename(archive, path));
    archive_entry_set_pathname(entry, "aicpu_kernels_device/stateless_kernel.so");
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, (int64_t)len);
    EXPECT_EQ(ARCHIVE_OK, archive_write_header(archive, entry));
    EXPECT_EQ(len, archive_write_data(archive, bytes, len));
    archive_entry_free(entry);
    EXPECT_EQ(ARCHIVE_OK, archive_write_close(archive));
    archive_write_free(archive);
    hc_free(bytes);
    write_text("k.json", good_json);
}

TEST_WITH(a_package_runs_once_it_is_allowed_and_signed, TEST_KEEPS_MEMORY)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    aclrtBinHandle binary;
    uint32_t value;

    install_package(path);
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    test_expect_error("run `hcomm package allow ");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, rt_allow_list_add("k.tar.gz", PACKAGE_DIR));
    test_expect_error("unsigned code: run `hcomm package sign ");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, run_answer(binary, &value));
    EXPECT_EQ(42, value);
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(an_altered_package_is_refused, TEST_KEEPS_MEMORY)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    aclrtBinHandle binary;
    uint8_t *bytes = NULL;
    uint32_t value;
    size_t len = 0;

    install_package(path);
    EXPECT_EQ(0, rt_allow_list_add("k.tar.gz", PACKAGE_DIR));
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_file_read(path, 1 << 26, &bytes, &len));
    bytes[len / 2] ^= 4;
    EXPECT_EQ(0, rt_file_replace(path, bytes, len, 0644));
    hc_free(bytes);
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    test_expect_error("altered after it was signed");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

TEST_WITH(a_malformed_package_list_is_told, TEST_KEEPS_MEMORY)
{
    char path[RT_PATH_LEN];
    aclrtBinHandle binary;
    uint32_t value;

    install_package(path);
    EXPECT_EQ(0, rt_allow_list_add("k.tar.gz", PACKAGE_DIR));
    write_text("conf/ascend_package_load.ini", "name:k.tar.gz\ninstall_path:9\n");
    EXPECT_EQ(0, aclrtSetDevice(0));
    binary = load();
    test_expect_error("ascend_package_load.ini:2: install_path");
    test_expect_error("cannot be used");
    EXPECT_EQ(ACL_ERROR_RT_AICPU_EXCEPTION, run_answer(binary, &value));
    EXPECT_EQ(0, aclrtBinaryUnLoad(binary));
}

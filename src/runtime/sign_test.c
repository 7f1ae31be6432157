/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "runtime/sign.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "runtime/install.h"
#include "runtime/secverify.h"
#include "tests/support/test.h"

static const uint8_t gzip_like[] = "\x1f\x8b\x08 whatever follows";
static const uint8_t elf_like[] = "\177ELF whatever follows";

/* A new installation with one file in it, at path[RT_PATH_LEN]. */
static void
make_file(const char *name, const uint8_t *bytes, size_t len, char *path)
{
    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    EXPECT_EQ(0, rt_install_path(path, "%s", name));
    EXPECT_EQ(0, rt_file_replace(path, bytes, len, 0644));
}

static enum rt_trust
trust_of(const char *path)
{
    enum rt_trust trust = RT_TRUST_ALTERED;

    EXPECT_EQ(0, rt_verify_file(path, &trust));
    return trust;
}

/* Flips one bit of the file at `at` (from the end if negative). */
static void
flip(const char *path, long at)
{
    uint8_t *bytes = NULL;
    size_t len = 0;

    EXPECT_EQ(0, rt_file_read(path, 1 << 20, &bytes, &len));
    bytes[at < 0 ? (long)len + at : at] ^= 1;
    EXPECT_EQ(0, rt_file_replace(path, bytes, len, 0644));
    hc_free(bytes);
}

TEST(a_signed_package_is_trusted_here)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(RT_TRUST_UNSIGNED, trust_of(path));
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_STREQ(path, written);
    EXPECT_EQ(RT_TRUST_SIGNED, trust_of(path));
}

TEST(signing_again_replaces_the_signature)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    struct stat st;

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, stat(path, &st));
    EXPECT_EQ(sizeof gzip_like + RT_TRAILER_LEN, st.st_size);
    EXPECT_EQ(RT_TRUST_SIGNED, trust_of(path));
}

TEST(a_library_is_signed_beside_itself)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    struct stat st;

    make_file("a.so", elf_like, sizeof elf_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_CONTAINS("a.so.sig", written);
    EXPECT_EQ(0, stat(path, &st));
    EXPECT_EQ(sizeof elf_like, st.st_size);
    EXPECT_EQ(RT_TRUST_SIGNED, trust_of(path));
    flip(path, 6);
    EXPECT_EQ(RT_TRUST_ALTERED, trust_of(path));
}

TEST(any_changed_byte_is_noticed)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    flip(path, 5); /* content */
    EXPECT_EQ(RT_TRUST_ALTERED, trust_of(path));
    flip(path, 5);
    flip(path, -1); /* frame */
    EXPECT_EQ(RT_TRUST_ALTERED, trust_of(path));
    flip(path, -1);
    flip(path, -20); /* signature */
    EXPECT_EQ(RT_TRUST_ALTERED, trust_of(path));
    flip(path, -20);
    flip(path, -90); /* version */
    EXPECT_EQ(RT_TRUST_ALTERED, trust_of(path));
    flip(path, -90);
    flip(path, -80); /* key id */
    EXPECT_EQ(RT_TRUST_UNKNOWN_KEY, trust_of(path));
    flip(path, -80);
    EXPECT_EQ(RT_TRUST_SIGNED, trust_of(path));
    flip(path, -100); /* magic */
    EXPECT_EQ(RT_TRUST_UNSIGNED, trust_of(path));
}

TEST(another_installation_does_not_trust_our_key)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN], other[RT_PATH_LEN];

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_install_path(other, "other"));
    setenv("ASCEND_HOME_PATH", other, 1);
    EXPECT_EQ(RT_TRUST_UNKNOWN_KEY, trust_of(path));
}

TEST(a_key_file_must_hold_the_key_of_its_name)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN], keys[RT_PATH_LEN], key[RT_PATH_LEN] = "";
    struct dirent *entry;
    DIR *dir;

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_install_path(keys, "conf/keys/trusted"));
    dir = opendir(keys);
    EXPECT_NOT_NULL(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (strstr(entry->d_name, ".pub") != NULL)
            EXPECT_EQ(0, rt_path_join(key, keys, entry->d_name));
    }
    closedir(dir);
    flip(key, 0); /* a hexadecimal digit: still a key, but another one */
    EXPECT_EQ(RT_TRUST_UNKNOWN_KEY, trust_of(path));
}

TEST(the_private_key_is_private)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN], key[RT_PATH_LEN];
    struct stat st;

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    EXPECT_EQ(0, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_install_path(key, "conf/keys/private.key"));
    EXPECT_EQ(0, stat(key, &st));
    EXPECT_EQ(0600, st.st_mode & 0777);
    EXPECT_EQ(0, chmod(key, 0644));
    test_expect_error("chmod 600");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_sign_file(path, written));
    EXPECT_EQ(0, rt_file_replace(key, "rubbish", 7, 0600));
    test_expect_error("is damaged");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_sign_file(path, written));
}

/* All of them must have signed with the key that is there in the end. */
TEST(racing_processes_end_with_one_key)
{
    char paths[6][RT_PATH_LEN], name[32], written[RT_PATH_LEN];
    int status;

    for (int i = 0; i < 6; i++) {
        snprintf(name, sizeof name, "%d.tar.gz", i);
        make_file(name, gzip_like, sizeof gzip_like, paths[i]);
    }
    for (int i = 0; i < 6; i++) {
        if (fork() == 0)
            _exit(rt_sign_file(paths[i], written) == 0 ? 0 : 1);
    }
    for (int i = 0; i < 6; i++) {
        EXPECT_TRUE(wait(&status) > 0);
        EXPECT_EQ(0, status);
    }
    EXPECT_EQ(0, rt_sign_file(paths[0], written)); /* writes the trusted key if it were another */
    EXPECT_EQ(0, rt_install_path(written, "conf/keys/trusted"));
    DIR *dir = opendir(written);
    int keys = 0;

    for (struct dirent *entry = readdir(dir); entry != NULL; entry = readdir(dir))
        keys += strstr(entry->d_name, ".pub") != NULL;
    closedir(dir);
    EXPECT_EQ(1, keys);
    for (int i = 0; i < 6; i++)
        EXPECT_EQ(RT_TRUST_SIGNED, trust_of(paths[i]));
}

TEST(only_packages_and_libraries_are_signed)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];

    make_file("a.txt", (const uint8_t *)"hello", 5, path);
    test_expect_error("neither a kernel package");
    EXPECT_EQ(ACL_ERROR_RT_PARAM_INVALID, rt_sign_file(path, written));
    strcat(path, ".none");
    test_expect_error("No such file");
    EXPECT_EQ(ACL_ERROR_RT_FILE_OPEN, rt_sign_file(path, written));
}

TEST(every_failed_allocation_is_survived)
{
    char path[RT_PATH_LEN], written[RT_PATH_LEN];
    aclError rc;
    long nth = 0;

    make_file("a.tar.gz", gzip_like, sizeof gzip_like, path);
    test_expect_error("out of host memory");
    do {
        hc_alloc_fail_nth(nth++);
        rc = rt_sign_file(path, written);
        hc_alloc_fail_nth(-1);
        EXPECT_TRUE(rc == 0 || rc == ACL_ERROR_RT_MEMORY_ALLOCATION);
        EXPECT_EQ(0, hc_alloc_live());
    } while (rc != 0);
}

TEST(verification_is_on_until_both_switches_say_off)
{
    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    EXPECT_TRUE(rt_secverify_on(1));
    EXPECT_EQ(0, rt_secverify_set(1, &(struct rt_secverify){.enable = 0, .mode = 0}));
    EXPECT_TRUE(rt_secverify_on(1));
    EXPECT_EQ(0, rt_secverify_set(1, &(struct rt_secverify){.enable = 1, .mode = 0}));
    EXPECT_FALSE(rt_secverify_on(1));
    EXPECT_TRUE(rt_secverify_on(0));
    EXPECT_EQ(0, rt_secverify_set(1, &(struct rt_secverify){.enable = 1, .mode = 1}));
    EXPECT_TRUE(rt_secverify_on(1));
}

TEST(a_damaged_switch_file_means_on)
{
    /* 1 and 0, if only 32 bits are looked at */
    static const char wrapped[] = "{\"0\": {\"enable\": 4294967297, \"mode\": 4294967296}}";
    char path[RT_PATH_LEN];

    setenv("ASCEND_HOME_PATH", test_tmpdir(), 1);
    EXPECT_EQ(0, rt_secverify_set(0, &(struct rt_secverify){.enable = 1, .mode = 0}));
    EXPECT_EQ(0, rt_install_path(path, "conf/hcomm-secverify.json"));
    EXPECT_EQ(0, rt_file_replace(path, wrapped, strlen(wrapped), 0644));
    EXPECT_TRUE(rt_secverify_on(0));
    EXPECT_EQ(0, rt_file_replace(path, "{\"0\": {", 7, 0644));
    test_expect_error("hcomm-secverify.json is damaged");
    EXPECT_TRUE(rt_secverify_on(0));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/sign.h"

#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/alloc.h"
#include "runtime/install.h"

#define MAGIC_AT 16
#define MAGIC_LEN 16
#define KEY_ID_AT 40
#define KEY_ID_LEN 8
#define HEAD_LEN 48 /* what the signature covers of the trailer: I1 */
#define TAIL_AT (HEAD_LEN + crypto_sign_BYTES)
#define FILE_MAX ((size_t)1 << 30)

/* A gzip header that has an extra field of 100 bytes, one subfield HC of 96; the magic; version. */
static const uint8_t head[KEY_ID_AT] = "\x1f\x8b\x08\x04\0\0\0\0\0\xff\x64\0HC\x60\0"
                                       "hcomm-signature\n"
                                       "\x01\0\0\0\0\0\0";

/* No data, with the CRC and the length of that. */
static const uint8_t tail[10] = "\x03";

_Static_assert(TAIL_AT + sizeof tail == RT_TRAILER_LEN,
               "head, signature and tail fill the trailer");

struct key {
    uint8_t id[KEY_ID_LEN];
    uint8_t public[crypto_sign_PUBLICKEYBYTES];
    uint8_t secret[crypto_sign_SECRETKEYBYTES];
};

const char *
rt_trust_name(enum rt_trust trust)
{
    switch (trust) {
    case RT_TRUST_SIGNED:
        return "signed by a trusted key";
    case RT_TRUST_UNSIGNED:
        return "unsigned";
    case RT_TRUST_UNKNOWN_KEY:
        return "signed by a key that is not trusted here";
    case RT_TRUST_ALTERED:
        break;
    }
    return "altered after it was signed";
}

bool
rt_is_elf(const uint8_t *bytes, size_t len)
{
    return len >= 4 && memcmp(bytes, "\177ELF", 4) == 0;
}

static void
key_id_of(const uint8_t *public, uint8_t *id)
{
    uint8_t hash[crypto_generichash_BYTES];

    crypto_generichash(hash, sizeof hash, public, crypto_sign_PUBLICKEYBYTES, NULL, 0);
    memcpy(id, hash, KEY_ID_LEN);
}

/* ---- verifying ---- */

static aclError
trusted_path(char *path, const uint8_t *id)
{
    char hex[2 * KEY_ID_LEN + 1];

    sodium_bin2hex(hex, sizeof hex, id, KEY_ID_LEN);
    return rt_install_path(path, "conf/keys/trusted/%s.pub", hex);
}

/* A key file is one line of `len` bytes in hexadecimal. */
static bool
read_hex(const char *path, uint8_t *bytes, size_t len, int *err)
{
    char text[256];
    size_t got = 0;
    bool good;

    *err = rt_file_read_text(path, text, sizeof text);
    if (*err != 0)
        return false;
    text[strcspn(text, "\r\n")] = '\0';
    good = sodium_hex2bin(bytes, len, text, strlen(text), NULL, &got, NULL) == 0 && got == len;
    sodium_memzero(text, sizeof text);
    return good;
}

static bool
has_magic(const uint8_t *trailer)
{
    return memcmp(trailer + MAGIC_AT, head + MAGIC_AT, MAGIC_LEN) == 0;
}

enum rt_trust
rt_verify_detached(const uint8_t *bytes, size_t len, const uint8_t *trailer, size_t trailer_len)
{
    uint8_t public[crypto_sign_PUBLICKEYBYTES], id[KEY_ID_LEN];
    crypto_sign_state state;
    char path[RT_PATH_LEN];
    int err;

    if (trailer_len != RT_TRAILER_LEN || !has_magic(trailer))
        return RT_TRUST_UNSIGNED;
    if (sodium_init() < 0 || memcmp(trailer, head, sizeof head) != 0 ||
        memcmp(trailer + TAIL_AT, tail, sizeof tail) != 0)
        return RT_TRUST_ALTERED;
    if (trusted_path(path, trailer + KEY_ID_AT) != ACL_SUCCESS ||
        !read_hex(path, public, sizeof public, &err))
        return RT_TRUST_UNKNOWN_KEY;
    key_id_of(public, id);
    if (memcmp(id, trailer + KEY_ID_AT, sizeof id) != 0)
        return RT_TRUST_UNKNOWN_KEY; /* the file holds another key than its name says */
    crypto_sign_init(&state);
    crypto_sign_update(&state, trailer, HEAD_LEN); /* I1 */
    crypto_sign_update(&state, bytes, len);
    return crypto_sign_final_verify(&state, trailer + HEAD_LEN, public) == 0 ? RT_TRUST_SIGNED
                                                                             : RT_TRUST_ALTERED;
}

/* Length without a trailer, if there is one. */
static size_t
content_of(const uint8_t *bytes, size_t len)
{
    if (len < RT_TRAILER_LEN || !has_magic(bytes + len - RT_TRAILER_LEN))
        return len;
    return len - RT_TRAILER_LEN;
}

enum rt_trust
rt_verify(const uint8_t *bytes, size_t len, size_t *content_len)
{
    *content_len = content_of(bytes, len);
    return rt_verify_detached(bytes, *content_len, bytes + *content_len, len - *content_len);
}

static aclError
read_file(const char *path, uint8_t **bytes, size_t *len)
{
    int err = rt_file_read(path, FILE_MAX, bytes, len);

    if (err == ENOMEM)
        return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_OPEN, "cannot read %s: %s", path, strerror(err));
    return ACL_SUCCESS;
}

/* The trailer in "<path>.sig", or none. */
static enum rt_trust
verify_beside(const char *path, const uint8_t *bytes, size_t len)
{
    char sig_path[RT_PATH_LEN];
    uint8_t *sig = NULL;
    size_t sig_len = 0;
    enum rt_trust trust;

    if (snprintf(sig_path, sizeof sig_path, "%s.sig", path) >= (int)sizeof sig_path ||
        rt_file_read(sig_path, RT_TRAILER_LEN, &sig, &sig_len) != 0)
        return RT_TRUST_UNSIGNED;
    trust = rt_verify_detached(bytes, len, sig, sig_len);
    hc_free(sig);
    return trust;
}

aclError
rt_verify_file(const char *path, enum rt_trust *trust)
{
    uint8_t *bytes = NULL;
    size_t len = 0, content_len;
    aclError rc = read_file(path, &bytes, &len);

    if (rc != ACL_SUCCESS)
        return rc;
    *trust = rt_verify(bytes, len, &content_len);
    if (*trust == RT_TRUST_UNSIGNED && rt_is_elf(bytes, len))
        *trust = verify_beside(path, bytes, len);
    hc_free(bytes);
    return ACL_SUCCESS;
}

/* ---- the private key ---- */

static aclError
private_path(char *path)
{
    return rt_install_path(path, "conf/keys/private.key");
}

/* A seed of its own into a new file; somebody else's file is as good (I2). */
static aclError
make_seed(const char *path)
{
    uint8_t seed[crypto_sign_SEEDBYTES];
    char text[2 * sizeof seed + 2], dir[RT_PATH_LEN];
    aclError rc = rt_install_path(dir, "conf/keys/trusted");
    int err;

    if (rc != ACL_SUCCESS)
        return rc;
    randombytes_buf(seed, sizeof seed);
    sodium_bin2hex(text, sizeof text, seed, sizeof seed);
    strcat(text, "\n");
    err = rt_dir_make(dir, 0755);
    if (err == 0)
        err = rt_file_create(path, text, strlen(text), 0600);
    sodium_memzero(seed, sizeof seed);
    sodium_memzero(text, sizeof text);
    if (err != 0 && err != EEXIST)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot make the signing key %s: %s", path,
                       strerror(err));
    return ACL_SUCCESS;
}

/* Everything that reads our signatures must know the key: its public half becomes trusted. */
static aclError
trust_key(const struct key *key)
{
    char text[2 * sizeof key->public + 2], path[RT_PATH_LEN];
    aclError rc = trusted_path(path, key->id);
    uint8_t known[sizeof key->public];
    int err;

    if (rc != ACL_SUCCESS)
        return rc;
    if (read_hex(path, known, sizeof known, &err) && memcmp(known, key->public, sizeof known) == 0)
        return ACL_SUCCESS;
    sodium_bin2hex(text, sizeof text, key->public, sizeof key->public);
    strcat(text, "\n");
    err = rt_file_replace(path, text, strlen(text), 0644);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot write the trusted key %s: %s", path,
                       strerror(err));
    return ACL_SUCCESS;
}

static aclError
load_key(struct key *key)
{
    uint8_t seed[crypto_sign_SEEDBYTES];
    char path[RT_PATH_LEN];
    struct stat st;
    aclError rc = private_path(path);
    bool good;
    int err;

    if (rc == ACL_SUCCESS && stat(path, &st) != 0 && errno == ENOENT)
        rc = make_seed(path);
    if (rc != ACL_SUCCESS)
        return rc;
    if (stat(path, &st) == 0 && (st.st_mode & 077) != 0)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "signing key %s can be read by others: run `chmod 600 %s`", path, path);
    good = read_hex(path, seed, sizeof seed, &err);
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_OPEN, "cannot read the signing key %s: %s", path,
                       strerror(err));
    if (!good)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                       "signing key %s is damaged: remove it, and sign the packages again", path);
    crypto_sign_seed_keypair(key->public, key->secret, seed);
    sodium_memzero(seed, sizeof seed);
    key_id_of(key->public, key->id);
    return trust_key(key);
}

/* ---- signing ---- */

static aclError
make_trailer(const uint8_t *bytes, size_t len, uint8_t *trailer)
{
    crypto_sign_state state;
    struct key key;
    aclError rc;

    if (sodium_init() < 0)
        return rt_fail(ACL_ERROR_RT_INTERNAL_ERROR, "libsodium does not start");
    rc = load_key(&key);
    if (rc != ACL_SUCCESS)
        return rc;
    memcpy(trailer, head, sizeof head);
    memcpy(trailer + KEY_ID_AT, key.id, sizeof key.id);
    memcpy(trailer + TAIL_AT, tail, sizeof tail);
    crypto_sign_init(&state);
    crypto_sign_update(&state, trailer, HEAD_LEN); /* I1 */
    crypto_sign_update(&state, bytes, len);
    crypto_sign_final_create(&state, trailer + HEAD_LEN, NULL, key.secret);
    sodium_memzero(&key, sizeof key);
    return ACL_SUCCESS;
}

/* A package is written again with its trailer; a library stays as it is and gets a .sig. */
static aclError
write_signed(const char *path, const uint8_t *bytes, size_t len, const uint8_t *trailer,
             char *signed_path)
{
    bool elf = rt_is_elf(bytes, len);
    uint8_t *both = NULL;
    int err;

    if (snprintf(signed_path, RT_PATH_LEN, "%s%s", path, elf ? ".sig" : "") >= RT_PATH_LEN)
        return rt_fail(ACL_ERROR_RT_PARAM_INVALID, "path %.100s... is too long", path);
    if (elf) {
        err = rt_file_replace(signed_path, trailer, RT_TRAILER_LEN, 0644);
    } else {
        both = hc_zalloc(len + RT_TRAILER_LEN);
        if (both == NULL)
            return rt_set_last_error(ACL_ERROR_RT_MEMORY_ALLOCATION);
        memcpy(both, bytes, len);
        memcpy(both + len, trailer, RT_TRAILER_LEN);
        err = rt_file_replace(signed_path, both, len + RT_TRAILER_LEN, 0644);
        hc_free(both);
    }
    if (err != 0)
        return rt_fail(ACL_ERROR_RT_FILE_WRITE, "cannot write %s: %s", signed_path, strerror(err));
    return ACL_SUCCESS;
}

/* Whether a gzip stream begins somewhere: a vendor's header may come first. */
static bool
has_gzip(const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i + 2 < len; i++) {
        if (bytes[i] == 0x1f && bytes[i + 1] == 0x8b && bytes[i + 2] == 8)
            return true;
    }
    return false;
}

aclError
rt_sign_file(const char *path, char *signed_path)
{
    uint8_t trailer[RT_TRAILER_LEN], *bytes = NULL;
    size_t len = 0;
    aclError rc = read_file(path, &bytes, &len);

    if (rc != ACL_SUCCESS)
        return rc;
    len = content_of(bytes, len);
    if (!rt_is_elf(bytes, len) && !has_gzip(bytes, len))
        rc = rt_fail(ACL_ERROR_RT_PARAM_INVALID,
                     "%s is neither a kernel package (.tar.gz) nor a shared object", path);
    if (rc == ACL_SUCCESS)
        rc = make_trailer(bytes, len, trailer);
    if (rc == ACL_SUCCESS)
        rc = write_signed(path, bytes, len, trailer, signed_path);
    hc_free(bytes);
    return rc;
}

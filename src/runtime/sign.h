/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * sign: Ed25519 signatures of kernel packages and kernel libraries.
 *
 * A signed package is its bytes followed by a trailer; a signed plain library has the trailer in
 * a file of its own, "<library>.sig". The trailer names its key; the public keys that are trusted
 * are files of the installation, conf/keys/trusted/<key id>.pub. The private key of this
 * installation, conf/keys/private.key, is made when it is first needed.
 *
 * Trailer: gzip frame (16) | magic (16) | version (4, little endian) | zero (4) | key id (8) |
 * signature (64) | gzip frame (10). The frame makes it a gzip member with nothing in it, whose
 * extra field is the signature: so gzip and tar unpack a signed package without complaint.
 *
 * I1  The signature covers the trailer up to the key id, then the content (Ed25519ph): neither a
 *     later version nor another key can be made out of it.
 * I2  The private key comes into being complete, mode 0600, and is never replaced: of processes
 *     that race to make it, one wins and the others use its key.
 */
#ifndef HC_RUNTIME_SIGN_H
#define HC_RUNTIME_SIGN_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/runtime.h"

#define RT_TRAILER_LEN 122u

enum rt_trust {
    RT_TRUST_SIGNED, /* by a trusted key */
    RT_TRUST_UNSIGNED,
    RT_TRUST_UNKNOWN_KEY, /* signed, by a key that is not trusted here */
    RT_TRUST_ALTERED,     /* the bytes are not those that were signed */
};

/* "signed", "unsigned", ...: for messages. */
const char *rt_trust_name(enum rt_trust trust);

/* Looks for a trailer at the end; *content_len is the length before it. */
enum rt_trust rt_verify(const uint8_t *bytes, size_t len, size_t *content_len);

/* `trailer` is what a .sig file holds. */
enum rt_trust rt_verify_detached(const uint8_t *bytes, size_t len, const uint8_t *trailer,
                                 size_t trailer_len);

/* Verifies the file: its own trailer, or "<path>.sig" when it is an ELF object.
 * ACL_ERROR_RT_FILE_OPEN (logged). */
aclError rt_verify_file(const char *path, enum rt_trust *trust);

/*
 * Signs the file, again if it was signed; the written file's name goes to signed_path[RT_PATH_LEN].
 * ACL_ERROR_RT_FILE_OPEN, ACL_ERROR_RT_FILE_WRITE, ACL_ERROR_RT_PARAM_INVALID: neither package nor
 * library, or the private key is damaged or readable by others (all logged).
 */
aclError rt_sign_file(const char *path, char *signed_path);

/* Whether the bytes begin like an ELF object. */
bool rt_is_elf(const uint8_t *bytes, size_t len);

#endif

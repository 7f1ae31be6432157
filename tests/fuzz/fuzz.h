/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fuzz: one target a file, for everything that is parsed from outside. A target must take any bytes
 * without a crash, a leak or a hang; what it answers is the unit tests' business.
 *
 * NAME_fuzz runs the seeds and a fixed sequence of mutations of them, as a test. With HCOMM_FUZZ=ON
 * (clang) there is NAME_libfuzzer too, which searches for new paths.
 */
#ifndef HC_TEST_FUZZ_FUZZ_H
#define HC_TEST_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* The target. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Writes seed `n` into `into`; its length, 0 when there are no more. */
size_t fuzz_seed(unsigned n, uint8_t *into, size_t room);

/* Seed `n` of a list of texts. */
size_t fuzz_seed_text(const char *const *texts, size_t num, unsigned n, uint8_t *into, size_t room);

/* A file with these bytes; its name ends in `suffix`. Valid until the next call. */
const char *fuzz_file(const uint8_t *bytes, size_t len, const char *suffix);

/* A directory that goes when the program ends. */
const char *fuzz_dir(void);

/* Reads every byte, so that sanitizers see whether they may be read. */
void fuzz_read(const void *bytes, size_t len);

/* The bytes as text, to be freed. */
char *fuzz_text(const uint8_t *bytes, size_t len);

#endif

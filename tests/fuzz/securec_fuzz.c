/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Formats of securec.h. Every variable argument is one value that serves as pointer and as size:
 * PLACE, whose lower half is the number of bytes behind it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "securec.h"
#include "tests/fuzz/fuzz.h"

#define PLACE ((char *)0x550000010000) /* sanitizers leave it to programs, too */
#define PLACE_LEN 0x10000u             /* the lower half of PLACE */
#define FORMAT_MOST 24u                /* so 12 conversions, which take 24 arguments at most */

/* The sanitizer's own look at formats ends the program at "%t" and the like. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
    return "check_printf=0";
}

static const char *const texts[] = {
    "%d %s %c\n12 word x",      "%5[a-z]%n%*d%hhu\nabc7 9",        "%lf%Lf%x%o%p\n1.5 2 ff 7 0x1",
    "%[^]x]%%%i%li\n]y%0x1F 3", "%S%C%ls%lc\nwide w wide w",       "%08.3f|%-10s|%+d\n",
    "%*.*s%#llx%zu%jd%td\n",    "%hhd%hd%ld%lld%e%g%a\n1 2 3 4 5", "%[\nabc",
};

size_t
fuzz_seed(unsigned n, uint8_t *into, size_t room)
{
    return fuzz_seed_text(texts, sizeof texts / sizeof texts[0], n, into, room);
}

static void
make_place(void)
{
    static bool made;

    if (!made && mmap(PLACE, PLACE_LEN, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) != PLACE)
        abort();
    made = true;
    memset(PLACE, 0, 512);
}

/* Numbers of many digits only ask for wide output, and '$' for arguments that are not there. */
static bool
is_cheap(const char *format)
{
    size_t digits = 0;

    for (; *format != '\0'; format++) {
        digits = isdigit((unsigned char)*format) ? digits + 1 : 0;
        if (digits > 4 || *format == '$')
            return false;
    }
    return true;
}

#define FOUR PLACE, PLACE, PLACE, PLACE
#define MANY FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR, FOUR

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
    const uint8_t *line = len == 0 ? NULL : memchr(bytes, '\n', len);
    size_t format_len = line == NULL ? len : (size_t)(line - bytes);
    char *format, *input, out[256];

    if (format_len > FORMAT_MOST)
        return 0;
    format = fuzz_text(bytes, format_len);
    input = line == NULL ? fuzz_text(NULL, 0) : fuzz_text(line + 1, len - format_len - 1);
    make_place();
    (void)sscanf_s(input, format, MANY);
    if (is_cheap(format)) {
        make_place(); /* strings end */
        (void)sprintf_s(out, sizeof out, format, MANY);
        (void)snprintf_s(out, sizeof out, sizeof out - 1, format, MANY);
        (void)snprintf_truncated_s(out, sizeof out, format, MANY);
    }
    free(format);
    free(input);
    return 0;
}

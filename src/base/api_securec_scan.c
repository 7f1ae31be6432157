/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_securec_scan: the sscanf_s family and gets_s.
 *
 * securec_scan() walks the format. Numbers are libc's: each numeric directive becomes a call of
 * sscanf or fscanf with that directive alone, so they read exactly as they do elsewhere on the
 * host. Text (%s %c %[, also with `l`, %S, %C) is read here, one character at a time, because
 * only here is the size of its buffer known.
 *
 * Conversions are those of C11 with %S and %C. Anything else (%ms, %1$d) ends the scan before
 * an argument is touched: what its arguments would mean next to the sizes is nowhere defined.
 *
 * An item of another character type than the input is converted in the current locale: its width
 * counts the characters converted, its size the characters stored.
 */
#define _POSIX_C_SOURCE 200809L
#include "base/securec_impl.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>
#include <wctype.h>

#define LIMIT SECUREC_STRING_MAX_LEN
#define NUMERIC "diouxXpaAeEfFgG"

enum scan_result {
    SCAN_OK,       /* matched, nothing to count */
    SCAN_ASSIGNED, /* matched, one item more */
    SCAN_MISMATCH, /* the input is something else, or does not fit: stop */
    SCAN_END,      /* the input ended first, or is badly encoded: stop */
};

/* So that a pointer to a va_list can be passed on, whatever type va_list has. */
struct scan_args {
    va_list list;
};

/* One conversion: %[*][width][length]conv. */
struct directive {
    bool suppress;
    int width;      /* 0: none given */
    char length[3]; /* "", "h", "hh", "l", ... */
    wint_t conv;
    const void *format; /* has the characters of a %[ set in [set_from, set_to) */
    size_t set_from, set_to;
    bool set_inverted;
};

/* Where the characters of a text item go. */
struct sink {
    void *dest; /* NULL: nowhere (%*s) */
    bool wide;  /* dest has wchar_t */
    size_t max; /* characters that may be stored, terminator not included */
    size_t len; /* characters stored */
    mbstate_t state;
};

enum sink_result { SINK_PUT, SINK_PARTIAL, SINK_FULL, SINK_INVALID };

static wint_t
format_at(const struct securec_input *in, const void *format, size_t at)
{
    return in->ops->wide ? (wint_t)((const wchar_t *)format)[at]
                         : ((const unsigned char *)format)[at];
}

static bool
is_space(const struct securec_input *in, wint_t ch)
{
    return in->ops->wide ? iswspace(ch) != 0 : isspace((int)ch) != 0;
}

static bool
is_one_of(wint_t ch, const char *chars)
{
    return ch != 0 && ch < 0x80 && strchr(chars, (int)ch) != NULL;
}

static void
take(struct securec_input *in)
{
    in->ops->take(in);
    in->taken++;
}

static void
skip_space(struct securec_input *in)
{
    wint_t ch;

    while ((ch = in->ops->peek(in)) != WEOF && is_space(in, ch))
        take(in);
}

static enum scan_result
match_literal(struct securec_input *in, wint_t want)
{
    wint_t ch = in->ops->peek(in);

    if (ch == WEOF)
        return SCAN_END;
    if (ch != want)
        return SCAN_MISMATCH;
    take(in);
    return SCAN_OK;
}

/* Parse what follows a '%' at `at`. Returns the place after it, or 0 when the format ends first. */
static size_t
directive_parse(struct directive *dir, const struct securec_input *in, const void *format,
                size_t at)
{
    wint_t ch = format_at(in, format, at);

    *dir = (struct directive){.format = format};
    if (ch == '*') {
        dir->suppress = true;
        ch = format_at(in, format, ++at);
    }
    while (is_one_of(ch, "0123456789")) {
        int digit = (int)ch - '0';
        dir->width = dir->width > (INT_MAX - digit) / 10 ? INT_MAX : dir->width * 10 + digit;
        ch = format_at(in, format, ++at);
    }
    if (is_one_of(ch, "hljztL")) {
        wint_t first = ch;
        dir->length[0] = (char)first;
        ch = format_at(in, format, ++at);
        if (ch == first && is_one_of(ch, "hl")) {
            dir->length[1] = (char)ch;
            ch = format_at(in, format, ++at);
        }
    }
    dir->conv = ch;
    if (ch == 0)
        return 0;
    at++;
    if (ch != '[')
        return at;

    if (format_at(in, format, at) == '^') {
        dir->set_inverted = true;
        at++;
    }
    dir->set_from = at;
    do { /* a ']' in first place is a member of the set */
        if (format_at(in, format, at) == 0)
            return 0;
        at++;
    } while (format_at(in, format, at) != ']');
    dir->set_to = at;
    return at + 1;
}

/* Whether the set of a %[ takes `ch`. "a-z" is a range; a '-' at either end is itself. */
static bool
set_takes(const struct directive *dir, const struct securec_input *in, wint_t ch)
{
    bool found = false;

    for (size_t at = dir->set_from; at < dir->set_to && !found; at++) {
        wint_t low = format_at(in, dir->format, at);
        wint_t high = low;

        if (at + 2 < dir->set_to && format_at(in, dir->format, at + 1) == '-' &&
            format_at(in, dir->format, at + 2) >= low) {
            high = format_at(in, dir->format, at + 2);
            at += 2;
        }
        found = low <= ch && ch <= high;
    }
    return found != dir->set_inverted;
}

static bool
text_takes(const struct directive *dir, const struct securec_input *in, wint_t ch)
{
    if (dir->conv == '[')
        return set_takes(dir, in, ch);
    return is_one_of(dir->conv, "cC") || !is_space(in, ch);
}

static enum sink_result
sink_put(struct sink *sink, const struct securec_input *in, wint_t ch)
{
    char bytes[MB_LEN_MAX] = {(char)ch};
    wchar_t wc = (wchar_t)ch;
    size_t count = 1;

    if (in->ops->wide && !sink->wide) {
        count = wcrtomb(bytes, wc, &sink->state);
        if (count == (size_t)-1)
            return SINK_INVALID;
    } else if (!in->ops->wide && sink->wide) {
        size_t rc = mbrtowc(&wc, bytes, 1, &sink->state);
        if (rc == (size_t)-1)
            return SINK_INVALID;
        if (rc == (size_t)-2)
            return SINK_PARTIAL;
    }
    if (sink->dest == NULL)
        return SINK_PUT;
    if (count > sink->max - sink->len)
        return SINK_FULL;
    if (sink->wide)
        ((wchar_t *)sink->dest)[sink->len] = wc;
    else
        memcpy((char *)sink->dest + sink->len, bytes, count);
    sink->len += count;
    return SINK_PUT;
}

static void
sink_terminate(struct sink *sink, size_t at)
{
    if (sink->dest == NULL)
        return;
    if (sink->wide)
        ((wchar_t *)sink->dest)[at] = L'\0';
    else
        ((char *)sink->dest)[at] = '\0';
}

/* %s %c %[ and their wide forms: the only ones with a size behind the pointer. */
static enum scan_result
run_text(const struct directive *dir, struct securec_input *in, struct scan_args *args)
{
    const bool is_char = is_one_of(dir->conv, "cC");
    struct sink sink = {.wide = dir->length[0] == 'l' || is_one_of(dir->conv, "SC")};
    int left = dir->width != 0 ? dir->width : is_char ? 1 : INT_MAX;
    enum sink_result put = SINK_PUT;
    bool any = false;
    wint_t ch;

    if (!dir->suppress) {
        sink.dest = va_arg(args->list, void *);
        sink.max = (uint32_t)va_arg(args->list, size_t); /* an unsigned int has no upper half */
    }
    if (in->ops->peek(in) == WEOF)
        return SCAN_END;
    if (!dir->suppress) {
        size_t limit = sink.wide ? SECUREC_WCHAR_STRING_MAX_LEN : LIMIT;
        if (securec_usable(sink.dest, sink.max, limit) != EOK)
            return SCAN_MISMATCH;
        sink.max -= is_char ? 0 : 1;
    }

    while (left > 0 && (ch = in->ops->peek(in)) != WEOF && text_takes(dir, in, ch)) {
        put = sink_put(&sink, in, ch);
        if (put == SINK_FULL || put == SINK_INVALID) {
            sink_terminate(&sink, 0);
            return put == SINK_FULL ? SCAN_MISMATCH : SCAN_END;
        }
        take(in);
        any = true;
        left -= put == SINK_PUT;
    }
    if (!any)
        return SCAN_MISMATCH;
    if (put == SINK_PARTIAL) { /* the input ends inside a character */
        sink_terminate(&sink, 0);
        return SCAN_END;
    }
    if (!is_char)
        sink_terminate(&sink, sink.len);
    return dir->suppress ? SCAN_OK : SCAN_ASSIGNED;
}

static enum scan_result
run_number(const struct directive *dir, struct securec_input *in, struct scan_args *args)
{
    void *arg = dir->suppress ? NULL : va_arg(args->list, void *);
    char width[12] = "";
    char spec[32];
    int used = -1;

    if (arg == NULL && !dir->suppress)
        return SCAN_MISMATCH;
    if (dir->width != 0)
        snprintf(width, sizeof width, "%d", dir->width);
    snprintf(spec, sizeof spec, "%%%s%s%s%c%%n", dir->suppress ? "*" : "", width, dir->length,
             (char)dir->conv);

    int rc = in->ops->number(in, spec, arg, &used);
    if (used < 0)
        return rc == EOF ? SCAN_END : SCAN_MISMATCH;
    in->taken += (size_t)used;
    return dir->suppress ? SCAN_OK : SCAN_ASSIGNED;
}

/* %n: store how much was taken so far. Not an item. */
static enum scan_result
run_count(const struct directive *dir, const struct securec_input *in, struct scan_args *args)
{
    void *arg = dir->suppress ? NULL : va_arg(args->list, void *);

    if (arg == NULL)
        return dir->suppress ? SCAN_OK : SCAN_MISMATCH;
    if (strcmp(dir->length, "hh") == 0)
        *(signed char *)arg = (signed char)in->taken;
    else if (strcmp(dir->length, "h") == 0)
        *(short *)arg = (short)in->taken;
    else if (strcmp(dir->length, "l") == 0)
        *(long *)arg = (long)in->taken;
    else if (strcmp(dir->length, "ll") == 0)
        *(long long *)arg = (long long)in->taken;
    else if (strcmp(dir->length, "j") == 0)
        *(intmax_t *)arg = (intmax_t)in->taken;
    else if (strcmp(dir->length, "z") == 0)
        *(size_t *)arg = in->taken;
    else if (strcmp(dir->length, "t") == 0)
        *(ptrdiff_t *)arg = (ptrdiff_t)in->taken;
    else
        *(int *)arg = (int)in->taken;
    return SCAN_OK;
}

static enum scan_result
directive_run(const struct directive *dir, struct securec_input *in, struct scan_args *args)
{
    if (!is_one_of(dir->conv, "cC[n"))
        skip_space(in);
    if (dir->conv == '%')
        return match_literal(in, '%');
    if (dir->conv == 'n')
        return run_count(dir, in, args);
    if (is_one_of(dir->conv, "sScC["))
        return run_text(dir, in, args);
    if (is_one_of(dir->conv, NUMERIC))
        return run_number(dir, in, args);
    return SCAN_MISMATCH; /* not a conversion */
}

int
securec_scan(struct securec_input *in, const void *format, va_list args)
{
    struct scan_args rest;
    enum scan_result result = SCAN_OK;
    int assigned = 0;
    size_t at = 0;
    wint_t ch;

    va_copy(rest.list, args);
    while (result <= SCAN_ASSIGNED && (ch = format_at(in, format, at)) != 0) {
        at++;
        if (is_space(in, ch)) {
            skip_space(in);
            continue;
        }
        if (ch != '%') {
            result = match_literal(in, ch);
            continue;
        }

        struct directive dir;
        at = directive_parse(&dir, in, format, at);
        result = at == 0 ? SCAN_MISMATCH : directive_run(&dir, in, &rest);
        assigned += result == SCAN_ASSIGNED;
    }
    va_end(rest.list);
    return result == SCAN_END && assigned == 0 ? EOF : assigned;
}

static wint_t
string_peek(struct securec_input *in)
{
    unsigned char ch = *(const unsigned char *)in->text;

    return ch == '\0' ? WEOF : ch;
}

static void
string_take(struct securec_input *in)
{
    in->text = (const char *)in->text + 1;
}

static int
string_number(struct securec_input *in, const char *spec, void *arg, int *used)
{
    int rc = arg == NULL ? sscanf(in->text, spec, used) : sscanf(in->text, spec, arg, used);

    if (*used > 0)
        in->text = (const char *)in->text + *used;
    return rc;
}

static const struct securec_input_ops string_ops = {
    .wide = false,
    .peek = string_peek,
    .take = string_take,
    .number = string_number,
};

static wint_t
stream_peek(struct securec_input *in)
{
    int ch = getc(in->stream);

    return ch == EOF ? WEOF : (wint_t)ungetc(ch, in->stream);
}

static void
stream_take(struct securec_input *in)
{
    (void)getc(in->stream);
}

static int
stream_number(struct securec_input *in, const char *spec, void *arg, int *used)
{
    return arg == NULL ? fscanf(in->stream, spec, used) : fscanf(in->stream, spec, arg, used);
}

static const struct securec_input_ops stream_ops = {
    .wide = false,
    .peek = stream_peek,
    .take = stream_take,
    .number = stream_number,
};

int
vsscanf_s(const char *buffer, const char *format, va_list argList)
{
    struct securec_input in = {.ops = &string_ops, .text = buffer};

    if (buffer == NULL || format == NULL || buffer[0] == '\0')
        return -1;
    if (strnlen(buffer, (size_t)LIMIT + 1) > LIMIT)
        return -1;
    return securec_scan(&in, format, argList);
}

int
vfscanf_s(FILE *stream, const char *format, va_list argList)
{
    struct securec_input in = {.ops = &stream_ops, .stream = stream};

    if (stream == NULL || format == NULL)
        return -1;
    flockfile(stream); /* many calls of libc, but one scan to other threads */
    int assigned = securec_scan(&in, format, argList);
    funlockfile(stream);
    return assigned;
}

int
vscanf_s(const char *format, va_list argList)
{
    return vfscanf_s(stdin, format, argList);
}

int
sscanf_s(const char *buffer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vsscanf_s(buffer, format, args);
    va_end(args);
    return assigned;
}

int
fscanf_s(FILE *stream, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vfscanf_s(stream, format, args);
    va_end(args);
    return assigned;
}

int
scanf_s(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    int assigned = vscanf_s(format, args);
    va_end(args);
    return assigned;
}

/* What is beyond destMax - 1 characters of the line stays in stdin. */
char *
gets_s(char *buffer, size_t destMax)
{
    if (securec_usable(buffer, destMax, LIMIT) != EOK)
        return NULL;
    if (fgets(buffer, (int)destMax, stdin) == NULL) {
        buffer[0] = '\0';
        return NULL;
    }

    size_t len = strlen(buffer);
    while (len > 0 && (buffer[len - 1] == '\n' || buffer[len - 1] == '\r'))
        buffer[--len] = '\0';
    return buffer;
}

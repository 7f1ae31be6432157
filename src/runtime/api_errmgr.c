/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The error manager's C++ functions, namespace error_message, under the names that C++ compilers
 * give them. None of the parameter types depends on the string ABI, so one name serves all. What
 * is reported becomes the text of aclGetRecentErrMsg.
 */
#include <ctype.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"

#define MESSAGE_LEN 1024

#define CXX_NAME(name) __asm__(name) __attribute__((visibility("default")))

/* std::vector<const char *>, passed by reference. */
struct text_vector {
    const char *const *begin;
    const char *const *end;
    const char *const *capacity;
};

int32_t err_report_inner(const char *file, const char *func, uint32_t line, const char *error_code,
                         const char *format, ...)
    CXX_NAME("_ZN13error_message17ReportInnerErrMsgEPKcS1_jS1_S1_z");
int32_t err_report_predefined(const char *error_code, const struct text_vector *key,
                              const struct text_vector *value)
    CXX_NAME("_ZN13error_message22ReportPredefinedErrMsgEPKcRKSt6vectorIS1_SaIS1_EES6_");
int32_t err_report_predefined_bare(const char *error_code)
    CXX_NAME("_ZN13error_message22ReportPredefinedErrMsgEPKc");
int32_t err_report_user(const char *error_code, const char *format, ...)
    CXX_NAME("_ZN13error_message23ReportUserDefinedErrMsgEPKcS1_z");
int32_t err_register_format(const char *json, size_t len)
    CXX_NAME("_ZN13error_message26RegisterFormatErrorMessageEPKcm");

/* Adds to `text` as far as it fits. */
static void __attribute__((format(printf, 2, 3)))
append(char text[MESSAGE_LEN], const char *fmt, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, fmt);
    vsnprintf(text + used, MESSAGE_LEN - used, fmt, args);
    va_end(args);
}

static int32_t
add_formatted(const char *code, const char *format, va_list args, const char *origin)
{
    char text[MESSAGE_LEN] = "";
    size_t used;

    append(text, "%s: ", code);
    used = strlen(text);
    vsnprintf(text + used, MESSAGE_LEN - used, format, args);
    append(text, "%s", origin);
    hc_errmsg_add(text);
    return 0;
}

int32_t
err_report_inner(const char *file, const char *func, uint32_t line, const char *error_code,
                 const char *format, ...)
{
    char origin[256];
    va_list args;
    int32_t rc;

    if (error_code == NULL || format == NULL)
        return -1;
    snprintf(origin, sizeof origin, " [%s:%u %s]", file == NULL ? "?" : file, line,
             func == NULL ? "?" : func);
    va_start(args, format);
    rc = add_formatted(error_code, format, args, origin);
    va_end(args);
    return rc;
}

int32_t
err_report_predefined(const char *error_code, const struct text_vector *key,
                      const struct text_vector *value)
{
    char text[MESSAGE_LEN] = "";
    const char *const *of = value->begin;

    if (error_code == NULL || key->end - key->begin != value->end - value->begin)
        return -1;
    append(text, "%s:", error_code);
    for (const char *const *at = key->begin; at != key->end; at++, of++)
        append(text, "%s %s %s", at == key->begin ? "" : ",", *at == NULL ? "?" : *at,
               *of == NULL ? "?" : *of);
    hc_errmsg_add(text);
    return 0;
}

int32_t
err_report_predefined_bare(const char *error_code)
{
    if (error_code == NULL)
        return -1;
    hc_errmsg_add(error_code);
    return 0;
}

/* EU0000 to EU9999. */
static int
is_user_code(const char *code)
{
    if (strlen(code) != 6 || code[0] != 'E' || code[1] != 'U')
        return 0;
    for (int i = 2; i < 6; i++) {
        if (!isdigit((unsigned char)code[i]))
            return 0;
    }
    return 1;
}

int32_t
err_report_user(const char *error_code, const char *format, ...)
{
    va_list args;
    int32_t rc;

    if (error_code == NULL || format == NULL || !is_user_code(error_code))
        return -1;
    va_start(args, format);
    rc = add_formatted(error_code, format, args, "");
    va_end(args);
    return rc;
}

/* Messages are composed from keys and values alone: a registered format has no use here. */
int32_t
err_register_format(const char *json, size_t len)
{
    return json == NULL || len == 0 ? -1 : 0;
}

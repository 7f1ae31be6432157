/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * err_msg: puts a message into the text that aclGetRecentErrMsg returns. C++ only; for C it is
 * empty.
 *
 * Names and parameter types are such that one symbol serves both string ABIs of libstdc++.
 */
#ifndef BASE_ERR_MSG_H
#define BASE_ERR_MSG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <vector>

#define ERR_MSG_VISIBILITY_ __attribute__((visibility("default")))

namespace error_message
{

/* Bytes of one message; what is longer is cut off. */
static const size_t LIMIT_PER_MSG = 1024;

/**
 * Report a fault inside a library. Use REPORT_INNER_ERR_MSG.
 *
 * @param file        in  where it was found
 * @param func        in  in which function
 * @param line            in which line
 * @param error_code  in  such as "E19999"
 * @param format      in  as for printf
 *
 * @return 0; -1: a string is NULL or there is no memory.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
ERR_MSG_VISIBILITY_ int32_t ReportInnerErrMsg(const char *file, const char *func, uint32_t line,
                                              const char *error_code, const char *format, ...);

/**
 * Report a fault that has a text of its own with gaps to fill. Use REPORT_PREDEFINED_ERR_MSG.
 *
 * @param error_code  in  which text
 * @param key         in  names of the gaps
 * @param value       in  what goes in, one for each name
 *
 * @return 0; -1: `error_code` is NULL or the lists differ in length.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
ERR_MSG_VISIBILITY_ int32_t ReportPredefinedErrMsg(const char *error_code,
                                                   const std::vector<const char *> &key,
                                                   const std::vector<const char *> &value);

/**
 * The same for a text without gaps.
 *
 * @return 0; -1: `error_code` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
ERR_MSG_VISIBILITY_ int32_t ReportPredefinedErrMsg(const char *error_code);

/**
 * Report a fault of the program's. Use REPORT_USER_DEFINED_ERR_MSG.
 *
 * @param error_code  in  "EU0000" .. "EU9999"
 * @param format      in  as for printf
 *
 * @return 0; -1: a string is NULL or the code is another one.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
ERR_MSG_VISIBILITY_ int32_t ReportUserDefinedErrMsg(const char *error_code, const char *format,
                                                    ...);

/**
 * Add texts for predefined messages.
 *
 * @param json  in  [len] bytes: the texts
 * @param len       bytes
 *
 * @return 0; -1: `json` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, section 22.
 */
ERR_MSG_VISIBILITY_ int32_t RegisterFormatErrorMessage(const char *json, size_t len);

} // namespace error_message

namespace ge
{
using error_message::ReportInnerErrMsg;
using error_message::ReportPredefinedErrMsg;
using error_message::ReportUserDefinedErrMsg;
} // namespace ge

/* REPORT_INNER_ERR_MSG(code, format, ...) */
#define REPORT_INNER_ERR_MSG(error_code, ...)                                                      \
    error_message::ReportInnerErrMsg(__FILE__, __func__, __LINE__, error_code, __VA_ARGS__)

/* REPORT_PREDEFINED_ERR_MSG(code) or (code, keys, values) */
#define REPORT_PREDEFINED_ERR_MSG(...) error_message::ReportPredefinedErrMsg(__VA_ARGS__)

/* REPORT_USER_DEFINED_ERR_MSG(code, format, ...) */
#define REPORT_USER_DEFINED_ERR_MSG(error_code, ...)                                               \
    error_message::ReportUserDefinedErrMsg(error_code, __VA_ARGS__)

#define REG_FORMAT_ERROR_MSG(json, len) error_message::RegisterFormatErrorMessage(json, len)

#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_base: the functions of acl_base_rt.h that need no device: half precision numbers, data
 * buffers, sizes of data types, and the program's own log lines.
 */
#include <stdarg.h>
#include <string.h>

#include "acl/acl_base_rt.h"
#include "base/alloc.h"
#include "base/log.h"
#include "runtime/runtime.h"

struct aclDataBuffer {
    void *data;
    size_t len;
};

/* binary32: 1 sign bit, 8 exponent bits with bias 127, 23 of fraction. binary16: 1, 5 (15), 10. */

float
aclFloat16ToFloat(aclFloat16 value)
{
    uint32_t sign = (uint32_t)(value >> 15) << 31;
    uint32_t exponent = (value >> 10) & 0x1FU;
    uint32_t fraction = value & 0x3FFU;
    uint32_t bits;
    float result;

    if (exponent == 0x1F) {
        bits = sign | 0x7F800000U | (fraction << 13);
    } else if (exponent != 0) {
        bits = sign | ((exponent + 127 - 15) << 23) | (fraction << 13);
    } else {
        result = (float)fraction * 0x1p-24F; /* subnormal or zero: exact */
        return sign != 0 ? -result : result;
    }
    memcpy(&result, &bits, sizeof result);
    return result;
}

aclFloat16
aclFloatToFloat16(float value)
{
    uint32_t bits;
    uint32_t sign;
    uint32_t magnitude;
    uint32_t kept;
    uint32_t lost;
    uint32_t half;
    uint32_t shift;

    memcpy(&bits, &value, sizeof bits);
    sign = (bits >> 16) & 0x8000U;
    magnitude = bits & 0x7FFFFFFFU;

    if (magnitude > 0x7F800000U) /* a NaN: quiet, with what fits of its payload */
        return (aclFloat16)(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU));
    if (magnitude >= 0x47800000U) /* 65536 and more, and infinity */
        return (aclFloat16)(sign | 0x7C00U);
    if (magnitude < 0x33000000U) /* less than half the smallest subnormal number */
        return (aclFloat16)sign;

    if (magnitude >= 0x38800000U) { /* 2^-14: normal here too */
        shift = 13;
        kept = magnitude - ((127U - 15U) << 23);
    } else {
        shift = 126U - (magnitude >> 23);
        kept = (magnitude & 0x7FFFFFU) | 0x800000U;
    }
    lost = kept & ((1U << shift) - 1U);
    half = 1U << (shift - 1U);
    kept >>= shift;
    /* To nearest, ties to even. A carry runs into the exponent, at the end into infinity. */
    if (lost > half || (lost == half && (kept & 1U) != 0))
        kept++;
    return (aclFloat16)(sign | kept);
}

aclDataBuffer *
aclCreateDataBuffer(void *data, size_t size)
{
    aclDataBuffer *buffer = hc_zalloc(sizeof *buffer);

    if (buffer == NULL)
        return NULL; /* hc_zalloc has said so */
    buffer->data = data;
    buffer->len = size;
    return buffer;
}

aclError
aclDestroyDataBuffer(const aclDataBuffer *dataBuffer)
{
    if (dataBuffer == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "cannot destroy data buffer: NULL");
    hc_free((void *)(uintptr_t)dataBuffer); /* the interface is const, the object is not */
    return ACL_SUCCESS;
}

aclError
aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data, size_t size)
{
    if (dataBuffer == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "cannot update data buffer: NULL");
    dataBuffer->data = data;
    dataBuffer->len = size;
    return ACL_SUCCESS;
}

void *
aclGetDataBufferAddr(const aclDataBuffer *dataBuffer)
{
    return dataBuffer == NULL ? NULL : dataBuffer->data;
}

uint32_t
aclGetDataBufferSize(const aclDataBuffer *dataBuffer)
{
    size_t len = aclGetDataBufferSizeV2(dataBuffer);

    return len > UINT32_MAX ? UINT32_MAX : (uint32_t)len;
}

size_t
aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer)
{
    return dataBuffer == NULL ? 0 : dataBuffer->len;
}

size_t
aclDataTypeSize(aclDataType dataType)
{
    switch (dataType) {
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_BOOL:
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
        return 1;
    case ACL_FLOAT16:
    case ACL_BF16:
    case ACL_INT16:
    case ACL_UINT16:
        return 2;
    case ACL_FLOAT:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_COMPLEX32:
        return 4;
    case ACL_DOUBLE:
    case ACL_INT64:
    case ACL_UINT64:
    case ACL_COMPLEX64:
        return 8;
    case ACL_COMPLEX128:
        return 16;
    case ACL_DT_UNDEFINED:
    case ACL_STRING: /* as long as it is */
    case ACL_INT4:   /* from here on less than a byte */
    case ACL_UINT1:
    case ACL_FLOAT6_E3M2:
    case ACL_FLOAT6_E2M3:
    case ACL_FLOAT4_E2M1:
    case ACL_FLOAT4_E1M2:
        break;
    }
    return 0;
}

static enum hc_log_level
app_level(aclLogLevel level)
{
    switch (level) {
    case ACL_DEBUG:
        return HC_LOG_DEBUG;
    case ACL_INFO:
        return HC_LOG_INFO;
    case ACL_WARNING:
        return HC_LOG_WARN;
    case ACL_ERROR:
        break;
    }
    return HC_LOG_ERROR;
}

void
aclAppLog(aclLogLevel logLevel, const char *func, const char *file, uint32_t line, const char *fmt,
          ...)
{
    va_list args;

    (void)func; /* file and line say it */
    if (fmt == NULL)
        return;
    va_start(args, fmt);
    hc_vlog(app_level(logLevel), "APP", file == NULL ? "?" : file, (int)line, fmt, args);
    va_end(args);
}

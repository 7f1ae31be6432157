/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * api_error_codes: the few names of a graph engine that the one-sided transfer library's public
 * headers use. C++ only; for C it is empty.
 *
 * Everything is in this header. AscendString holds a plain C string, so that objects have one
 * layout under both string ABIs of libstdc++. A DataType has the number of the aclDataType of the
 * same name.
 *
 * Source: spec, compatibility, "Libraries and headers".
 */
#ifndef EXTERNAL_GE_COMMON_API_ERROR_CODES_H
#define EXTERNAL_GE_COMMON_API_ERROR_CODES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#include <cstring>
#include <iostream>
#include <string>

namespace ge
{

using Status = uint32_t;

/* A string that can be a map's key. Made from NULL it is empty. */
class AscendString
{
  public:
    AscendString() : text_(nullptr), len_(0)
    {
    }

    AscendString(const char *text) : AscendString(text, text == nullptr ? 0 : std::strlen(text))
    {
    }

    AscendString(const char *text, size_t len) : text_(nullptr), len_(0)
    {
        if (text == nullptr)
            return;
        text_ = new char[len + 1];
        std::memcpy(text_, text, len);
        text_[len] = '\0';
        len_ = len;
    }

    AscendString(const AscendString &other) : AscendString(other.text_, other.len_)
    {
    }

    AscendString(AscendString &&other) noexcept : text_(other.text_), len_(other.len_)
    {
        other.text_ = nullptr;
        other.len_ = 0;
    }

    ~AscendString()
    {
        delete[] text_;
    }

    AscendString &operator=(AscendString other) noexcept
    {
        char *text = text_;
        size_t len = len_;

        text_ = other.text_;
        len_ = other.len_;
        other.text_ = text;
        other.len_ = len;
        return *this;
    }

    /* Valid until the object changes; never NULL. */
    const char *GetString() const
    {
        return text_ == nullptr ? "" : text_;
    }

    size_t GetLength() const
    {
        return len_;
    }

    /* < 0, 0, > 0: before, equal, after; bytes decide, then length. */
    int Compare(const AscendString &other) const
    {
        size_t len = len_ < other.len_ ? len_ : other.len_;
        int order = std::memcmp(GetString(), other.GetString(), len);

        if (order != 0 || len_ == other.len_)
            return order;
        return len_ < other.len_ ? -1 : 1;
    }

    bool operator<(const AscendString &other) const
    {
        return Compare(other) < 0;
    }

    bool operator>(const AscendString &other) const
    {
        return Compare(other) > 0;
    }

    bool operator<=(const AscendString &other) const
    {
        return Compare(other) <= 0;
    }

    bool operator>=(const AscendString &other) const
    {
        return Compare(other) >= 0;
    }

    bool operator==(const AscendString &other) const
    {
        return Compare(other) == 0;
    }

    bool operator!=(const AscendString &other) const
    {
        return Compare(other) != 0;
    }

  private:
    char *text_;
    size_t len_;
};

enum DataType {
    DT_UNDEFINED = -1,
    DT_FLOAT = 0,
    DT_FLOAT16 = 1,
    DT_INT8 = 2,
    DT_INT32 = 3,
    DT_UINT8 = 4,
    DT_INT16 = 6,
    DT_UINT16 = 7,
    DT_UINT32 = 8,
    DT_INT64 = 9,
    DT_UINT64 = 10,
    DT_DOUBLE = 11,
    DT_BOOL = 12,
    DT_STRING = 13,
    DT_COMPLEX64 = 16,
    DT_COMPLEX128 = 17,
    DT_BF16 = 27,
    DT_INT4 = 29,
    DT_UINT1 = 30,
    DT_COMPLEX32 = 33,
    DT_HIFLOAT8 = 34,
    DT_FLOAT8_E5M2 = 35,
    DT_FLOAT8_E4M3FN = 36,
    DT_FLOAT8_E8M0 = 37,
    DT_FLOAT6_E3M2 = 38,
    DT_FLOAT6_E2M3 = 39,
    DT_FLOAT4_E2M1 = 40,
    DT_FLOAT4_E1M2 = 41,
};

} // namespace ge

#endif

#endif

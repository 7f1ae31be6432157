/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_base_rt: what every acl header builds on: visibility, handles, error codes of the acl layer,
 * data types and a few helpers that need no device.
 *
 * Every handle is a void pointer; only the callee can tell one kind from another.
 *
 * Error codes are constants of the language, not macros: in C enumerators, so that `case` and array
 * bounds take them; in C++ typed objects, so that a program may reuse a name in its own scope.
 */
#ifndef ACL_ACL_BASE_RT_H
#define ACL_ACL_BASE_RT_H

#include <stddef.h>
#include <stdint.h>

/* The library defines FUNC_VISIBILITY when it builds itself. */
#ifdef FUNC_VISIBILITY
#define ACL_FUNC_VISIBILITY __attribute__((visibility("default")))
#else
#define ACL_FUNC_VISIBILITY
#endif

/* For programs; the declarations here carry neither, since calling an old function is no error. */
#if defined(__GNUC__) && (__GNUC__ >= 6 || defined(__clang__))
#define ACL_DEPRECATED __attribute__((deprecated))
#define ACL_DEPRECATED_MESSAGE(message) __attribute__((deprecated(message)))
#else
#define ACL_DEPRECATED
#define ACL_DEPRECATED_MESSAGE(message)
#endif

#ifdef __cplusplus
extern "C" {
#endif

typedef int aclError; /* 0: success */
typedef uint16_t aclFloat16;

typedef void *aclrtStream;
typedef void *aclrtContext;
typedef void *aclrtEvent;
typedef void *aclrtNotify;
typedef void *aclrtCntNotify;
typedef void *aclrtLabel;
typedef void *aclrtLabelList;
typedef void *aclrtMbuf;
typedef void *aclrtTaskGrp;
typedef void *aclrtAllocatorDesc;
typedef void *aclrtAllocator;
typedef void *aclrtAllocatorBlock;
typedef void *aclrtAllocatorAddr;
typedef void *aclrtDrvMemHandle;
typedef void *aclrtBinary;
typedef void *aclrtBinHandle;
typedef void *aclrtFuncHandle;
typedef void *aclrtArgsHandle;
typedef void *aclrtParamHandle;
typedef void *aclmdlRI;
typedef void *aclmdlRITask;
typedef void *aclmdlRICondHandle;

typedef struct aclDataBuffer aclDataBuffer;

/* 1xxxxx: the caller; 2xxxxx: no resource or support; 3xxxxx: storage; 5xxxxx: a fault inside. */
#ifdef __cplusplus
#define ACL_CONSTANT_(name, value) static const int name = value
#else
#define ACL_CONSTANT_(name, value) enum { name = value }
#endif

ACL_CONSTANT_(ACL_ERROR_NONE, 0);
ACL_CONSTANT_(ACL_SUCCESS, 0);

ACL_CONSTANT_(ACL_ERROR_INVALID_PARAM, 100000); /* NULL, size 0, or no such enumerator */
ACL_CONSTANT_(ACL_ERROR_UNINITIALIZE, 100001);
ACL_CONSTANT_(ACL_ERROR_REPEAT_INITIALIZE, 100002); /* aclInit again: counted, callers go on */
ACL_CONSTANT_(ACL_ERROR_INVALID_FILE, 100003);      /* cannot be opened, or a package is missing */
ACL_CONSTANT_(ACL_ERROR_WRITE_FILE, 100004);
ACL_CONSTANT_(ACL_ERROR_INVALID_FILE_SIZE, 100005);
ACL_CONSTANT_(ACL_ERROR_PARSE_FILE, 100006); /* malformed content */
ACL_CONSTANT_(ACL_ERROR_FILE_MISSING_ATTR, 100007);
ACL_CONSTANT_(ACL_ERROR_FILE_ATTR_INVALID, 100008);
ACL_CONSTANT_(ACL_ERROR_INVALID_DUMP_CONFIG, 100009);
ACL_CONSTANT_(ACL_ERROR_INVALID_PROFILING_CONFIG, 100010);
ACL_CONSTANT_(ACL_ERROR_INVALID_MODEL_ID, 100011);
ACL_CONSTANT_(ACL_ERROR_DESERIALIZE_MODEL, 100012);
ACL_CONSTANT_(ACL_ERROR_PARSE_MODEL, 100013);
ACL_CONSTANT_(ACL_ERROR_READ_MODEL_FAILURE, 100014);
ACL_CONSTANT_(ACL_ERROR_MODEL_SIZE_INVALID, 100015);
ACL_CONSTANT_(ACL_ERROR_MODEL_MISSING_ATTR, 100016);
ACL_CONSTANT_(ACL_ERROR_MODEL_INPUT_NOT_MATCH, 100017);
ACL_CONSTANT_(ACL_ERROR_MODEL_OUTPUT_NOT_MATCH, 100018);
ACL_CONSTANT_(ACL_ERROR_MODEL_NOT_DYNAMIC, 100019);
ACL_CONSTANT_(ACL_ERROR_OP_TYPE_NOT_MATCH, 100020);
ACL_CONSTANT_(ACL_ERROR_OP_INPUT_NOT_MATCH, 100021);
ACL_CONSTANT_(ACL_ERROR_OP_OUTPUT_NOT_MATCH, 100022);
ACL_CONSTANT_(ACL_ERROR_OP_ATTR_NOT_MATCH, 100023);
ACL_CONSTANT_(ACL_ERROR_OP_NOT_FOUND, 100024);
ACL_CONSTANT_(ACL_ERROR_OP_LOAD_FAILED, 100025);
ACL_CONSTANT_(ACL_ERROR_UNSUPPORTED_DATA_TYPE, 100026);
ACL_CONSTANT_(ACL_ERROR_FORMAT_NOT_MATCH, 100027);
ACL_CONSTANT_(ACL_ERROR_BIN_SELECTOR_NOT_REGISTERED, 100028);
ACL_CONSTANT_(ACL_ERROR_KERNEL_NOT_FOUND, 100029);
ACL_CONSTANT_(ACL_ERROR_BIN_SELECTOR_ALREADY_REGISTERED, 100030);
ACL_CONSTANT_(ACL_ERROR_KERNEL_ALREADY_REGISTERED, 100031);
ACL_CONSTANT_(ACL_ERROR_INVALID_QUEUE_ID, 100032);
ACL_CONSTANT_(ACL_ERROR_REPEAT_SUBSCRIBE, 100033);
ACL_CONSTANT_(ACL_ERROR_STREAM_NOT_SUBSCRIBE, 100034);
ACL_CONSTANT_(ACL_ERROR_THREAD_NOT_SUBSCRIBE, 100035);
ACL_CONSTANT_(ACL_ERROR_WAIT_CALLBACK_TIMEOUT, 100036);
ACL_CONSTANT_(ACL_ERROR_REPEAT_FINALIZE, 100037); /* more aclFinalize than aclInit */
ACL_CONSTANT_(ACL_ERROR_NOT_STATIC_AIPP, 100038);
ACL_CONSTANT_(ACL_ERROR_COMPILING_STUB_MODE, 100039);
ACL_CONSTANT_(ACL_ERROR_GROUP_NOT_SET, 100040);
ACL_CONSTANT_(ACL_ERROR_GROUP_NOT_CREATE, 100041);
ACL_CONSTANT_(ACL_ERROR_PROF_ALREADY_RUN, 100042);
ACL_CONSTANT_(ACL_ERROR_PROF_NOT_RUN, 100043);
ACL_CONSTANT_(ACL_ERROR_DUMP_ALREADY_RUN, 100044);
ACL_CONSTANT_(ACL_ERROR_DUMP_NOT_RUN, 100045);

ACL_CONSTANT_(ACL_ERROR_PROF_REPEAT_SUBSCRIBE, 148046);
ACL_CONSTANT_(ACL_ERROR_PROF_API_CONFLICT, 148047);
ACL_CONSTANT_(ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG, 148048);
ACL_CONSTANT_(ACL_ERROR_INVALID_OPP_PATH, 148049);
ACL_CONSTANT_(ACL_ERROR_OP_UNSUPPORTED_DYNAMIC, 148050);
ACL_CONSTANT_(ACL_ERROR_RELATIVE_RESOURCE_NOT_CLEARED, 148051);
ACL_CONSTANT_(ACL_ERROR_UNSUPPORTED_JPEG, 148052);
ACL_CONSTANT_(ACL_ERROR_INVALID_BUNDLE_MODEL_ID, 148053);

ACL_CONSTANT_(ACL_ERROR_BAD_ALLOC, 200000);       /* no host memory left inside the library */
ACL_CONSTANT_(ACL_ERROR_API_NOT_SUPPORT, 200001); /* the function is not there */
ACL_CONSTANT_(ACL_ERROR_INVALID_DEVICE, 200002);
ACL_CONSTANT_(ACL_ERROR_MEMORY_ADDRESS_UNALIGNED, 200003);
ACL_CONSTANT_(ACL_ERROR_RESOURCE_NOT_MATCH, 200004);
ACL_CONSTANT_(ACL_ERROR_INVALID_RESOURCE_HANDLE, 200005);
ACL_CONSTANT_(ACL_ERROR_FEATURE_UNSUPPORTED, 200006); /* an option value that is not supported */
ACL_CONSTANT_(ACL_ERROR_PROF_MODULES_UNSUPPORTED, 200007);

ACL_CONSTANT_(ACL_ERROR_STORAGE_OVER_LIMIT, 300000);

ACL_CONSTANT_(ACL_ERROR_INTERNAL_ERROR, 500000);
ACL_CONSTANT_(ACL_ERROR_FAILURE, 500001);
ACL_CONSTANT_(ACL_ERROR_GE_FAILURE, 500002);
ACL_CONSTANT_(ACL_ERROR_RT_FAILURE, 500003);
ACL_CONSTANT_(ACL_ERROR_DRV_FAILURE, 500004);
ACL_CONSTANT_(ACL_ERROR_PROFILING_FAILURE, 500005);

#undef ACL_CONSTANT_

typedef enum aclDataType {
    ACL_DT_UNDEFINED = -1,
    ACL_FLOAT = 0,
    ACL_FLOAT16 = 1,
    ACL_INT8 = 2,
    ACL_INT32 = 3,
    ACL_UINT8 = 4,
    ACL_INT16 = 6,
    ACL_UINT16 = 7,
    ACL_UINT32 = 8,
    ACL_INT64 = 9,
    ACL_UINT64 = 10,
    ACL_DOUBLE = 11,
    ACL_BOOL = 12,
    ACL_STRING = 13,
    ACL_COMPLEX64 = 16,
    ACL_COMPLEX128 = 17,
    ACL_BF16 = 27,
    ACL_INT4 = 29,
    ACL_UINT1 = 30,
    ACL_COMPLEX32 = 33,
    ACL_HIFLOAT8 = 34,
    ACL_FLOAT8_E5M2 = 35,
    ACL_FLOAT8_E4M3FN = 36,
    ACL_FLOAT8_E8M0 = 37,
    ACL_FLOAT6_E3M2 = 38,
    ACL_FLOAT6_E2M3 = 39,
    ACL_FLOAT4_E2M1 = 40,
    ACL_FLOAT4_E1M2 = 41,
} aclDataType;

typedef enum aclFormat {
    ACL_FORMAT_UNDEFINED = -1,
    ACL_FORMAT_NCHW = 0,
    ACL_FORMAT_NHWC = 1,
    ACL_FORMAT_ND = 2,
    ACL_FORMAT_NC1HWC0 = 3,
    ACL_FORMAT_FRACTAL_Z = 4,
    ACL_FORMAT_NC1HWC0_C04 = 12,
    ACL_FORMAT_HWCN = 16,
    ACL_FORMAT_NDHWC = 27,
    ACL_FORMAT_FRACTAL_NZ = 29,
    ACL_FORMAT_NCDHW = 30,
    ACL_FORMAT_NDC1HWC0 = 32,
    ACL_FRACTAL_Z_3D = 33,
    ACL_FORMAT_NC = 35,
    ACL_FORMAT_NCL = 47,
    ACL_FORMAT_FRACTAL_NZ_C0_16 = 50,
    ACL_FORMAT_FRACTAL_NZ_C0_32 = 51,
    ACL_FORMAT_FRACTAL_NZ_C0_2 = 52,
    ACL_FORMAT_FRACTAL_NZ_C0_4 = 53,
    ACL_FORMAT_FRACTAL_NZ_C0_8 = 54,
} aclFormat;

typedef enum aclLogLevel {
    ACL_DEBUG = 0,
    ACL_INFO = 1,
    ACL_WARNING = 2,
    ACL_ERROR = 3,
} aclLogLevel;

typedef enum aclMemType {
    ACL_MEMTYPE_DEVICE = 0,
    ACL_MEMTYPE_HOST = 1,
    ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT = 2,
} aclMemType;

typedef enum aclSysParamOpt {
    ACL_OPT_DETERMINISTIC = 0,
    ACL_OPT_ENABLE_DEBUG_KERNEL = 1,
    ACL_OPT_STRONG_CONSISTENCY = 2, /* deprecated */
    ACL_OPT_ENABLE_KERNEL_EARLY_START = 3,
} aclSysParamOpt;

typedef enum aclCannAttr {
    ACL_CANN_ATTR_UNDEFINED = -1,
    ACL_CANN_ATTR_INF_NAN = 0,
    ACL_CANN_ATTR_BF16 = 1,
    ACL_CANN_ATTR_JIT_COMPILE = 2,
} aclCannAttr;

typedef enum aclDeviceInfo {
    ACL_DEVICE_INFO_UNDEFINED = -1,
    ACL_DEVICE_INFO_AI_CORE_NUM = 0,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1,
    ACL_DEVICE_INFO_L2_SIZE = 2,
} aclDeviceInfo;

/**
 * Name of the chip the soft NPUs stand for, such as "Ascend910B3".
 *
 * Needs neither aclInit nor a device of its own.
 *
 * @return a string of the library's, valid as long as the process; NULL: there is no device.
 * Threads: any.
 * Source:  spec, acl runtime, section 3.
 */
ACL_FUNC_VISIBILITY const char *aclrtGetSocName(void);

/* ---- Helpers without a device --------------------------------------------------------------- */

/**
 * The value of a half precision number, exactly. Infinities stay, a NaN stays a NaN.
 *
 * @return the value.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B; IEEE 754 binary16.
 */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/**
 * The half precision number nearest to `value`; of two equally near ones the even one.
 *
 * Too large becomes infinity, too small a subnormal number or zero, a NaN stays a quiet NaN.
 *
 * @return its bits.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B; IEEE 754 binary16.
 */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);

/**
 * Make a descriptor of a piece of memory. It neither copies nor owns the memory.
 *
 * @param data  in  start; may be NULL
 * @param size      bytes
 *
 * @return the descriptor, the caller's until aclDestroyDataBuffer; NULL: no memory.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclDataBuffer *aclCreateDataBuffer(void *data, size_t size);

/**
 * Free a descriptor, not the memory it describes.
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `dataBuffer` is NULL.
 * Threads: any; nobody may use the descriptor any more.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclDestroyDataBuffer(const aclDataBuffer *dataBuffer);

/**
 * Let a descriptor describe other memory.
 *
 * @return ACL_SUCCESS; ACL_ERROR_INVALID_PARAM: `dataBuffer` is NULL.
 * Threads: any, but one at a time for one descriptor.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclUpdateDataBuffer(aclDataBuffer *dataBuffer, void *data,
                                                 size_t size);

/**
 * Start of the described memory.
 *
 * @return the address; NULL: none, or `dataBuffer` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY void *aclGetDataBufferAddr(const aclDataBuffer *dataBuffer);

/**
 * Bytes of the described memory, cut off at UINT32_MAX. aclGetDataBufferSizeV2 tells them all.
 *
 * @return bytes; 0: none, or `dataBuffer` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY uint32_t aclGetDataBufferSize(const aclDataBuffer *dataBuffer);

/**
 * Bytes of the described memory.
 *
 * @return bytes; 0: none, or `dataBuffer` is NULL.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY size_t aclGetDataBufferSizeV2(const aclDataBuffer *dataBuffer);

/**
 * Bytes of one element.
 *
 * @return bytes; 0: the type is unknown, has no fixed size, or is smaller than a byte.
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY size_t aclDataTypeSize(aclDataType dataType);

/**
 * Write a message of the program's to the library's log. A message below the log's level is
 * dropped.
 *
 * @param logLevel  how grave it is
 * @param func  in  where it comes from; not written, the file and line say it; may be NULL
 * @param file  in  source file; may be NULL
 * @param line      its line
 * @param fmt   in  as for printf; NULL: nothing is written
 *
 * Threads: any.
 * Source:  spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY void aclAppLog(aclLogLevel logLevel, const char *func, const char *file,
                                   uint32_t line, const char *fmt, ...);

/* The format is the first of the variable arguments, which keeps ISO C and C++ content. */
#define ACL_APP_LOG(level, ...) aclAppLog(level, __func__, __FILE__, __LINE__, __VA_ARGS__)

/*
 * Attributes of an installation. Each answers ACL_ERROR_RT_FEATURE_NOT_SUPPORT and names itself in
 * the message that aclGetRecentErrMsg returns. Threads: any. Source: spec, acl runtime, appendix B.
 */
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr **cannAttrList, size_t *num);
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t *value);
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo,
                                                    int64_t *value);

#ifdef __cplusplus
}
#endif

#endif

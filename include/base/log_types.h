/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log_types: levels, kinds of log and module numbers, shared by dlog_pub.h and acl_log.h.
 *
 * A module id has the module in its low 16 bits and at most one *_LOG_MASK bit above them, which
 * names the kind of log; without one it is the debug log.
 *
 * The module names are short words in the global scope (GE, TS, OP, ...). That is the interface.
 */
#ifndef BASE_LOG_TYPES_H
#define BASE_LOG_TYPES_H

#include <stdint.h>

#define LOG_FUNC_VISIBILITY __attribute__((visibility("default")))

#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
#define DLOG_NULL 4 /* as a threshold: nothing is written */

#define DLOG_TYPE_DEBUG 0
#define DLOG_TYPE_RUN 1
#define DLOG_TYPE_MAX 2

#define DEBUG_LOG_MASK 0x00010000U
#define SECURITY_LOG_MASK 0x00100000U
#define RUN_LOG_MASK 0x01000000U
#define STDOUT_LOG_MASK 0x10000000U

#define MSG_LENGTH 1024 /* bytes of a line; what is longer is cut off */
#define DLOG_ATTR_INIT_VALUE 0xFF

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLOG = 0,
    IDEDD = 1,
    SCC = 2,
    HCCL = 3,
    FMK = 4,
    CCU = 5,
    DVPP = 6,
    RUNTIME = 7,
    CCE = 8,
    HDC = 9,
    DRV = 10,
    NET = 11,
    HIXL = 12,
    DEVMM = 22,
    KERNEL = 23,
    LIBMEDIA = 24,
    CCECPU = 25,
    ROS = 27,
    HCCP = 28,
    ROCE = 29,
    TEFUSION = 30,
    PROFILING = 31,
    DP = 32,
    APP = 33,
    TS = 34,
    TSDUMP = 35,
    AICPU = 36,
    LP = 37,
    TDT = 38,
    FE = 39,
    MD = 40,
    MB = 41,
    ME = 42,
    IMU = 43,
    IMP = 44,
    GE = 45,
    CAMERA = 47,
    ASCENDCL = 48,
    TEEOS = 49,
    ISP = 50,
    SIS = 51,
    HSM = 52,
    DSS = 53,
    PROCMGR = 54,
    BBOX = 55,
    AIVECTOR = 56,
    TBE = 57,
    FV = 58,
    PYPTO = 59,
    TUNE = 60,
    HSS = 61,
    FFTS = 62,
    OP = 63,
    UDF = 64,
    HICAID = 65,
    TSYNC = 66,
    AUDIO = 67,
    TPRT = 68,
    ASCENDCKERNEL = 69,
    ASYS = 70,
    ATRACE = 71,
    RTC = 72,
    SYSMONITOR = 73,
    AML = 74,
    ADETECT = 75,
    INVALID_MODULE_ID = 76,
};

#define INVLID_MOUDLE_ID INVALID_MODULE_ID /* old, misspelt */

typedef enum { APPLICATION = 0, SYSTEM = 1 } ProcessType;

typedef struct {
    ProcessType type;
    unsigned int pid;
    unsigned int deviceId;
    unsigned int mode;
    char reserved[48];
} LogAttr;

typedef enum {
    OUTPUT_TYPE_DEBUG = 0,
    OUTPUT_TYPE_RUN = 1,
    OUTPUT_TYPE_BOTH = 2,
    OUTPUT_TYPE_MAX = 3,
} acllogOutputLogType;

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* One version for everything that programs ask about: there is one library behind all the names. */
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "runtime/error.h"

#define MAJOR 9
#define MINOR 2
#define PATCH 0
#define NUMBER (MAJOR * 10000000 + MINOR * 100000 + PATCH * 1000)

static bool
is_installed(const char *package)
{
    static const char *const packages[] = {"hcomm", "hccl", "runtime",    "driver",  "toolkit",
                                           "cann",  "opp",  "opp_kernel", "compiler"};

    for (size_t i = 0; i < sizeof packages / sizeof packages[0]; i++) {
        if (strcmp(package, packages[i]) == 0)
            return true;
    }
    LOG_INFO(RT, "package %s is not installed", package); /* a question, not a fault */
    return false;
}

aclError
aclsysGetVersionNum(char *pkgName, int32_t *versionNum)
{
    if (pkgName == NULL || versionNum == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionNum: %s is NULL",
                       pkgName == NULL ? "pkgName" : "versionNum");
    if (!is_installed(pkgName))
        return ACL_ERROR_INVALID_FILE;
    *versionNum = NUMBER;
    return ACL_SUCCESS;
}

aclError
aclsysGetVersionStr(char *pkgName, char *versionStr)
{
    if (pkgName == NULL || versionStr == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetVersionStr: %s is NULL",
                       pkgName == NULL ? "pkgName" : "versionStr");
    if (!is_installed(pkgName))
        return ACL_ERROR_INVALID_FILE;
    snprintf(versionStr, ACL_PKG_VERSION_MAX_SIZE, "%d.%d.%d", MAJOR, MINOR, PATCH);
    return ACL_SUCCESS;
}

aclError
aclsysGetCANNVersion(aclCANNPackageName name, aclCANNPackageVersion *version)
{
    if (version == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: version is NULL");
    if ((int)name < (int)ACL_PKG_NAME_CANN || (int)name > (int)ACL_PKG_NAME_DRIVER)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclsysGetCANNVersion: there is no package %d",
                       (int)name);
    memset(version, 0, sizeof *version);
    snprintf(version->version, sizeof version->version, "%d.%d.%d", MAJOR, MINOR, PATCH);
    snprintf(version->majorVersion, sizeof version->majorVersion, "%d", MAJOR);
    snprintf(version->minorVersion, sizeof version->minorVersion, "%d", MINOR);
    snprintf(version->releaseVersion, sizeof version->releaseVersion, "%d", PATCH);
    return ACL_SUCCESS;
}

aclError
aclrtGetVersion(int32_t *majorVersion, int32_t *minorVersion, int32_t *patchVersion)
{
    if (majorVersion == NULL || minorVersion == NULL || patchVersion == NULL)
        return rt_fail(ACL_ERROR_INVALID_PARAM, "aclrtGetVersion: an argument is NULL");
    *majorVersion = ACL_MAJOR_VERSION;
    *minorVersion = ACL_MINOR_VERSION;
    *patchVersion = ACL_PATCH_VERSION;
    return ACL_SUCCESS;
}

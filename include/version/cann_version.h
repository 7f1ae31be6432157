/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cann_version: the version of the programming interface this library implements, for #if.
 *
 * major * 10,000,000 + minor * 100,000. Programs choose whole code paths by it; aclsysGetVersionNum
 * answers the same at run time.
 */
#ifndef VERSION_CANN_VERSION_H
#define VERSION_CANN_VERSION_H

#define CANN_VERSION_NUM ((9 * 10000000) + (2 * 100000))

#endif

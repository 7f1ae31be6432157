/* SPDX-License-Identifier: BSD-3-Clause */
/* version: of this library, as processes tell it each other. */
#ifndef HC_BASE_VERSION_H
#define HC_BASE_VERSION_H

#define HC_VERSION 90200u /* 9.2.0 */

#endif

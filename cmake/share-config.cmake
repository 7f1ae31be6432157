# SPDX-License-Identifier: BSD-3-Clause
include("${CMAKE_CURRENT_LIST_DIR}/../../../lib64/cmake/hcomm/hcomm-config.cmake")

# SPDX-License-Identifier: BSD-3-Clause
# find_package(ASC) and find_package(AICPU), before project(): the languages can be found.
list(APPEND CMAKE_MODULE_PATH "${CMAKE_CURRENT_LIST_DIR}/../../../lib64/cmake/hcomm/languages")

# SPDX-License-Identifier: BSD-3-Clause
include("${CMAKE_CURRENT_LIST_DIR}/HcommLanguage.cmake")
hcomm_language_information_(AICPU)

# SPDX-License-Identifier: BSD-3-Clause
# find_package(hcomm): the libraries as targets, and the functions that build operator packages.
#
#   hcomm::hcomm     runtime, resources, primitives, communicator, point to point
#   hcomm::hccl      collectives; brings hcomm::hcomm
#   hcomm::<name>    the other names that programs link against, such as hcomm::ascendcl
#   acl_rt, acl_rt_headers, ascend_hal    without a namespace, as programs expect them
#
# HCOMM_HOME is the prefix.

get_filename_component(HCOMM_HOME "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)

if(NOT TARGET hcomm::hcomm)
    add_library(hcomm::hcomm SHARED IMPORTED)
    set_target_properties(hcomm::hcomm PROPERTIES
        IMPORTED_LOCATION "${HCOMM_HOME}/lib64/libhcomm.so"
        IMPORTED_SONAME libhcomm.so
        INTERFACE_INCLUDE_DIRECTORIES "${HCOMM_HOME}/include")

    add_library(hcomm::hccl SHARED IMPORTED)
    set_target_properties(hcomm::hccl PROPERTIES
        IMPORTED_LOCATION "${HCOMM_HOME}/lib64/libhccl.so"
        IMPORTED_SONAME libhccl.so
        INTERFACE_LINK_LIBRARIES hcomm::hcomm)

    foreach(name IN ITEMS acl_rt ascend_dump ascend_hal ascendalog ascendc_runtime ascendcl c_sec
                          ccl_kernel error_manager msprofiler profapi runtime unified_dlog)
        add_library(hcomm::${name} INTERFACE IMPORTED)
        set_target_properties(hcomm::${name} PROPERTIES INTERFACE_LINK_LIBRARIES hcomm::hcomm)
    endforeach()
endif()

foreach(name IN ITEMS acl_rt ascend_hal)
    if(NOT TARGET ${name})
        add_library(${name} INTERFACE IMPORTED)
        set_target_properties(${name} PROPERTIES INTERFACE_LINK_LIBRARIES hcomm::hcomm)
    endif()
endforeach()
if(NOT TARGET acl_rt_headers)
    add_library(acl_rt_headers INTERFACE IMPORTED)
    set_target_properties(acl_rt_headers PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES "${HCOMM_HOME}/include")
endif()

include("${CMAKE_CURRENT_LIST_DIR}/HcommOperator.cmake")

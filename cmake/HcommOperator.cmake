# SPDX-License-Identifier: BSD-3-Clause
# Builds and installs custom communication operators. Comes with find_package(hcomm).
#
#   hcomm_add_operator(NAME p2p                       the library is libhccl_custom_p2p.so
#                      HOST_SOURCES ...               its sources
#                      KERNEL_SOURCES ...             what runs on the device
#                      KERNEL_NAME p2p_aicpu_kernel   its library; default <NAME>_aicpu_kernel
#                      DESCRIPTION kernel.json        names the kernels for the host
#                      [PUBLIC_HEADERS ...] [INCLUDE_DIRS ...] [LIBRARIES ...]
#                      [SIGN_CONFIG check_cfg.xml])
#
# makes the targets hccl_custom_<NAME> (host), <KERNEL_NAME> (device) and
# aicpu_hccl_custom_<NAME> (the package that devices load), install rules of component hccl, and
# once per project hcomm_run_package, which packs all that is installed into
# cann-hccl_custom_<NAME>_linux-<arch>.run.
#
# The variables are those of the original flow. A caller that builds device and host apart sets
# KERNEL_MODE for the device part, then BUILD_DEVICE_DIR, where that was built, for the host part.
# Without either, one build makes both. Projects that are written for that flow use the three
# functions at the end themselves.

if(NOT TARGET hcomm::hcomm)
    include("${CMAKE_CURRENT_LIST_DIR}/hcomm-config.cmake")
    return() # it has included this file
endif()
include_guard(DIRECTORY)

option(ENABLE_SIGN "Sign kernel packages when they are built; their installer signs them anyway" OFF)
if(NOT CUSTOM_OPS_VENDOR)
    set(CUSTOM_OPS_VENDOR cust)
endif()
set(CUSTOM_OPS_OPP_PATH opp/vendors/${CUSTOM_OPS_VENDOR})
set(CUSTOM_OPS_INC_PATH ${CUSTOM_OPS_OPP_PATH}/include)
set(CUSTOM_OPS_LIB_PATH ${CUSTOM_OPS_OPP_PATH}/lib64)
set(CUSTOM_OPS_SCRIPTS_PATH ${CUSTOM_OPS_OPP_PATH}/scripts)
set(CUSTOM_OPS_AICPU_CONFIG_PATH ${CUSTOM_OPS_OPP_PATH}/aicpu/config)
set(CUSTOM_OPS_AICPU_KERNEL_PATH ${CUSTOM_OPS_OPP_PATH}/aicpu/kernel)
if(NOT ASCEND_CANN_PACKAGE_PATH)
    set(ASCEND_CANN_PACKAGE_PATH "${HCOMM_HOME}")
endif()
if(NOT BUILD_DEVICE_DIR)
    set(HCOMM_ONE_BUILD TRUE) # device and host together
    set(BUILD_DEVICE_DIR "${CMAKE_BINARY_DIR}")
endif()
if(ENABLE_CUSTOM) # the original flow: projects name the libraries, not where they are
    link_directories("${HCOMM_HOME}/lib64")
endif()
set(HCOMM_OPERATOR_DIR "${CMAKE_CURRENT_LIST_DIR}")

# ---- operators ----

function(hcomm_add_operator)
    set(lists HOST_SOURCES KERNEL_SOURCES PUBLIC_HEADERS INCLUDE_DIRS LIBRARIES)
    cmake_parse_arguments(PARSE_ARGV 0 op "" "NAME;KERNEL_NAME;DESCRIPTION;SIGN_CONFIG" "${lists}")
    if(op_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "hcomm_add_operator: what is ${op_UNPARSED_ARGUMENTS}?")
    endif()
    foreach(needed IN ITEMS NAME HOST_SOURCES)
        if(NOT op_${needed})
            message(FATAL_ERROR "hcomm_add_operator: ${needed} is missing")
        endif()
    endforeach()
    if(op_KERNEL_SOURCES AND NOT op_DESCRIPTION)
        message(FATAL_ERROR "hcomm_add_operator: DESCRIPTION is missing: the JSON file that names "
                            "the kernels")
    endif()
    if(NOT op_KERNEL_NAME)
        set(op_KERNEL_NAME ${op_NAME}_aicpu_kernel)
    endif()

    if(op_KERNEL_SOURCES AND (KERNEL_MODE OR HCOMM_ONE_BUILD))
        hcomm_add_kernel_()
    endif()
    if(NOT KERNEL_MODE)
        hcomm_add_host_()
        hcomm_add_run_package_()
    endif()
endfunction()

# The host library and what goes with it. A macro, as the next: it works on op_*.
macro(hcomm_add_host_)
    set(host hccl_custom_${op_NAME})
    add_library(${host} SHARED ${op_HOST_SOURCES})
    target_include_directories(${host} PRIVATE ${op_INCLUDE_DIRS})
    target_compile_definitions(${host} PRIVATE HCOMM_OPERATOR_VENDOR="${CUSTOM_OPS_VENDOR}")
    target_link_libraries(${host} PRIVATE hcomm::hcomm ${op_LIBRARIES})
    target_link_options(${host} PRIVATE -Wl,-z,defs)
    # From opp/vendors/<vendor>/lib64 to the installation's lib64.
    set_target_properties(${host} PROPERTIES
        POSITION_INDEPENDENT_CODE ON
        BUILD_WITH_INSTALL_RPATH ON
        INSTALL_RPATH "$ORIGIN;$ORIGIN/../../../../lib64")
    install(TARGETS ${host} LIBRARY DESTINATION ${CUSTOM_OPS_LIB_PATH} COMPONENT hccl)
    install(FILES ${op_PUBLIC_HEADERS} DESTINATION ${CUSTOM_OPS_INC_PATH} COMPONENT hccl)
    if(op_KERNEL_SOURCES)
        install(FILES ${op_DESCRIPTION} DESTINATION ${CUSTOM_OPS_AICPU_CONFIG_PATH} COMPONENT hccl)
        install(FILES "${BUILD_DEVICE_DIR}/signatures/aicpu_hccl_custom_${op_NAME}.tar.gz"
                DESTINATION ${CUSTOM_OPS_AICPU_KERNEL_PATH} COMPONENT hccl)
    endif()
endmacro()

# The device library and its package.
macro(hcomm_add_kernel_)
    set(package aicpu_hccl_custom_${op_NAME})
    add_library(${op_KERNEL_NAME} SHARED ${op_KERNEL_SOURCES})
    target_include_directories(${op_KERNEL_NAME} PRIVATE ${op_INCLUDE_DIRS})
    target_compile_definitions(${op_KERNEL_NAME} PRIVATE AICPU_COMPILE)
    target_link_libraries(${op_KERNEL_NAME} PRIVATE hcomm::ccl_kernel)
    target_link_options(${op_KERNEL_NAME} PRIVATE -Wl,-z,defs)
    # The process that loads it has libhcomm already.
    set_target_properties(${op_KERNEL_NAME} PROPERTIES
        POSITION_INDEPENDENT_CODE ON SKIP_BUILD_RPATH ON)
    cann_pack_targets_and_files(OUTPUT_TARGET ${package}
                                OUTPUT "${CMAKE_BINARY_DIR}/${package}.tar.gz"
                                TARGETS ${op_KERNEL_NAME}
                                MANIFEST bin_hash.cfg
                                TAR_ROOT_DIR aicpu_kernels_device)
    add_cann_sign_file(INPUT "${CMAKE_BINARY_DIR}/${package}.tar.gz"
                       CONFIG "${op_SIGN_CONFIG}"
                       RESULT_VAR signed_package
                       DEPENDS ${package})
    register_custom_aicpu_target(sign_${package})
endmacro()

macro(hcomm_add_run_package_)
    if(NOT TARGET hcomm_run_package)
        if(NOT CUSTOM_OPS_NAME)
            set(CUSTOM_OPS_NAME ${op_NAME})
        endif()
        add_custom_target(hcomm_run_package
            COMMAND "${CMAKE_COMMAND}" -E rm -rf "${CMAKE_BINARY_DIR}/_package"
            COMMAND "${CMAKE_COMMAND}" --install "${CMAKE_BINARY_DIR}" --component hccl
                    --prefix "${CMAKE_BINARY_DIR}/_package"
            COMMAND "${HCOMM_HOME}/share/hcomm/custom/pack.sh" "${CMAKE_BINARY_DIR}/_package"
                    "${CUSTOM_OPS_VENDOR}" "${CUSTOM_OPS_NAME}" "${CMAKE_BINARY_DIR}"
            VERBATIM)
    endif()
    add_dependencies(hcomm_run_package ${host})
    if(TARGET custom_aicpu)
        add_dependencies(hcomm_run_package custom_aicpu)
    endif()
endmacro()

# ---- the original flow's functions ----

# The aggregate target of the device part.
if(NOT TARGET custom_aicpu AND (KERNEL_MODE OR HCOMM_ONE_BUILD))
    add_custom_target(custom_aicpu ALL)
endif()

function(register_custom_aicpu_target target)
    add_dependencies(custom_aicpu ${target})
endfunction()

# Makes the target OUTPUT_TARGET, which packs libraries and files into OUTPUT (.tar.gz).
function(cann_pack_targets_and_files)
    cmake_parse_arguments(PARSE_ARGV 0 pack "" "OUTPUT_TARGET;OUTPUT;MANIFEST;TAR_ROOT_DIR"
                          "TARGETS;FILES")
    get_filename_component(output "${pack_OUTPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    set(files "")
    foreach(target IN LISTS pack_TARGETS)
        list(APPEND files "$<TARGET_FILE:${target}>")
    endforeach()
    foreach(file IN LISTS pack_FILES)
        get_filename_component(file "${file}" ABSOLUTE)
        list(APPEND files "${file}")
    endforeach()
    add_custom_command(OUTPUT "${output}"
        COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DROOT_DIR=${pack_TAR_ROOT_DIR}"
                "-DMANIFEST=${pack_MANIFEST}" -P "${HCOMM_OPERATOR_DIR}/HcommPack.cmake" -- ${files}
        DEPENDS ${pack_TARGETS} ${pack_FILES}
        VERBATIM)
    add_custom_target(${pack_OUTPUT_TARGET} DEPENDS "${output}")
endfunction()

# Makes the target sign_<name of INPUT without .tar.gz>, which puts INPUT into
# <BUILD_DEVICE_DIR>/signatures, signed if ENABLE_SIGN is on: by CUSTOM_SIGN_SCRIPT, which gets the
# file as its argument, or by this installation's key. CONFIG must list the file.
function(add_cann_sign_file)
    cmake_parse_arguments(PARSE_ARGV 0 sign "" "INPUT;CONFIG;RESULT_VAR;VERSION" "DEPENDS")
    get_filename_component(input "${sign_INPUT}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_BINARY_DIR}")
    get_filename_component(name "${input}" NAME)
    string(REGEX REPLACE "\\.tar\\.gz$" "" target "sign_${name}")
    set(result "${BUILD_DEVICE_DIR}/signatures/${name}")
    if(sign_CONFIG)
        hcomm_check_sign_config_("${sign_CONFIG}" "${name}")
    endif()
    set(signer "${CMAKE_COMMAND}" -E true)
    if(ENABLE_SIGN AND CUSTOM_SIGN_SCRIPT)
        set(signer "${CUSTOM_SIGN_SCRIPT}" "${result}")
    elseif(ENABLE_SIGN)
        set(signer "${CMAKE_COMMAND}" -E env "ASCEND_HOME_PATH=${HCOMM_HOME}"
            "${HCOMM_HOME}/bin/hcomm" package sign "${result}")
    endif()
    add_custom_command(OUTPUT "${result}"
        COMMAND "${CMAKE_COMMAND}" -E make_directory "${BUILD_DEVICE_DIR}/signatures"
        COMMAND "${CMAKE_COMMAND}" -E copy "${input}" "${result}"
        COMMAND ${signer}
        DEPENDS ${sign_DEPENDS} "${input}"
        VERBATIM)
    add_custom_target(${target} DEPENDS "${result}")
    add_dependencies(${target} ${sign_DEPENDS})
    set(${sign_RESULT_VAR} "${result}" PARENT_SCOPE)
endfunction()

# A configuration that names another file is a mistake that hardware would show only when it loads.
function(hcomm_check_sign_config_ config name)
    get_filename_component(config "${config}" ABSOLUTE)
    if(NOT EXISTS "${config}")
        message(FATAL_ERROR "signing configuration ${config} does not exist")
    endif()
    file(READ "${config}" text)
    if(NOT text MATCHES "<item[^>]*[ \t\r\n]input=\"([^\"]*/)?${name}\"")
        message(FATAL_ERROR "signing configuration ${config} has no <item input=\"${name}\" ...>")
    endif()
endfunction()

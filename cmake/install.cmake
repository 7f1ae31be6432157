# SPDX-License-Identifier: BSD-3-Clause
# The prefix that `cmake --install` makes (docs: the SDK). It can be moved: nothing in it knows where
# it was built or installed. Links are relative and made at install time.

set(HCOMM_ARCH_DIR ${CMAKE_SYSTEM_PROCESSOR}-linux)

# Names that programs link against; all of them are libhcomm.
set(HCOMM_LIBRARY_NAMES
    acl_rt ascend_dump ascend_hal ascendalog ascendc_runtime ascendcl c_sec ccl_kernel error_manager
    msprofiler profapi runtime unified_dlog)

# hcomm_install_link(TO LINK): a link at <prefix>/LINK whose text is TO.
function(hcomm_install_link to link)
    install(CODE "
        set(link \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${link}\")
        get_filename_component(dir \"\${link}\" DIRECTORY)
        file(MAKE_DIRECTORY \"\${dir}\")
        file(CREATE_LINK \"${to}\" \"\${link}\" SYMBOLIC)")
endfunction()

# ---- what programs compile and link with ----

install(TARGETS hcomm hccl LIBRARY DESTINATION lib64)
install(DIRECTORY include/ DESTINATION include)
foreach(name IN LISTS HCOMM_LIBRARY_NAMES)
    hcomm_install_link(libhcomm.so lib64/lib${name}.so)
endforeach()
hcomm_install_link(../../lib64/libhcomm.so devlib/device/libccl_kernel.so)
hcomm_install_link(include pkg_inc)
foreach(dir IN ITEMS include lib64 pkg_inc devlib)
    hcomm_install_link(../${dir} ${HCOMM_ARCH_DIR}/${dir})
endforeach()

# ---- what they run with ----

foreach(program IN ITEMS hcomm_cli npu_smi)
    if(TARGET ${program})
        install(TARGETS ${program} RUNTIME DESTINATION bin)
    endif()
endforeach()

install(FILES cmake/set_env.sh DESTINATION .)
install(DIRECTORY DESTINATION opp/vendors)
# The list of allowed packages belongs to whoever administers the installation: never overwritten.
install(CODE "
    set(conf \"\${CMAKE_INSTALL_PREFIX}/conf\")
    if(NOT EXISTS \"\$ENV{DESTDIR}\${conf}/ascend_package_load.ini\")
        file(INSTALL \"${CMAKE_SOURCE_DIR}/conf/ascend_package_load.ini\" DESTINATION \"\${conf}\")
    endif()")

# aclsysGetVersionNum answers for these names (src/runtime/api_version.c).
file(WRITE ${CMAKE_BINARY_DIR}/version.info "version=${PROJECT_VERSION}\n")
foreach(name IN ITEMS hcomm hccl runtime driver toolkit cann opp opp_kernel compiler)
    install(FILES ${CMAKE_BINARY_DIR}/version.info DESTINATION share/info/${name})
endforeach()

# ---- how build systems find it, and how operators are packaged ----

include(CMakePackageConfigHelpers)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/hcomm-config-version.cmake
                                 COMPATIBILITY SameMajorVersion)
install(FILES cmake/hcomm-config.cmake cmake/HcommOperator.cmake cmake/HcommPack.cmake
              ${CMAKE_BINARY_DIR}/hcomm-config-version.cmake
        DESTINATION lib64/cmake/hcomm)
# Debian's CMake does not look into lib64: these two lead there.
install(FILES cmake/share-config.cmake DESTINATION share/cmake/hcomm RENAME hcomm-config.cmake)
install(FILES ${CMAKE_BINARY_DIR}/hcomm-config-version.cmake DESTINATION share/cmake/hcomm)

# The languages of .asc and .aicpu sources.
install(DIRECTORY cmake/languages DESTINATION lib64/cmake/hcomm)
foreach(language IN ITEMS ASC AICPU)
    install(FILES cmake/language-config.cmake DESTINATION share/cmake/${language}
            RENAME ${language}Config.cmake)
endforeach()
install(FILES cmake/asc/aicpu_api.h DESTINATION asc/include/aicpu_api)
install(PROGRAMS cmake/asc/hcomm-asc DESTINATION asc/bin)

foreach(library IN ITEMS hcomm hccl)
    configure_file(cmake/${library}.pc.in ${CMAKE_BINARY_DIR}/${library}.pc @ONLY)
    install(FILES ${CMAKE_BINARY_DIR}/${library}.pc DESTINATION lib64/pkgconfig)
endforeach()

install(PROGRAMS scripts/custom/pack.sh scripts/custom/install.sh scripts/custom/uninstall.sh
        DESTINATION share/hcomm/custom)
install(FILES scripts/custom/help.info DESTINATION share/hcomm/custom)

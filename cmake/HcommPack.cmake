# SPDX-License-Identifier: BSD-3-Clause
# cmake -DOUTPUT=f.tar.gz -DROOT_DIR=dir -DMANIFEST=name -P HcommPack.cmake -- FILE...
#
# Packs the files below one root directory, with a manifest: for each file the line
# "<sha-256>  <name>". Devices check what it lists.

if(NOT DEFINED OUTPUT OR NOT DEFINED ROOT_DIR)
    message(FATAL_ERROR "HcommPack: -DOUTPUT=<file> and -DROOT_DIR=<directory> are needed")
endif()

set(files "")
set(is_file FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
    if(is_file)
        list(APPEND files "${CMAKE_ARGV${i}}")
    elseif(CMAKE_ARGV${i} STREQUAL "--")
        set(is_file TRUE)
    endif()
endforeach()
if(NOT files)
    message(FATAL_ERROR "HcommPack: no files for ${OUTPUT}")
endif()

set(stage "${OUTPUT}.dir")
file(REMOVE_RECURSE "${stage}")
set(lines "")
foreach(file IN LISTS files)
    get_filename_component(file "${file}" REALPATH)
    get_filename_component(name "${file}" NAME)
    file(COPY "${file}" DESTINATION "${stage}/${ROOT_DIR}")
    file(SHA256 "${file}" hash)
    string(APPEND lines "${hash}  ${name}\n")
endforeach()
if(MANIFEST)
    file(WRITE "${stage}/${ROOT_DIR}/${MANIFEST}" "${lines}")
endif()

execute_process(COMMAND "${CMAKE_COMMAND}" -E tar czf "${OUTPUT}" --format=gnutar "${ROOT_DIR}"
                WORKING_DIRECTORY "${stage}" RESULT_VARIABLE failed)
file(REMOVE_RECURSE "${stage}")
if(failed)
    message(FATAL_ERROR "HcommPack: cannot write ${OUTPUT}")
endif()

# SPDX-License-Identifier: BSD-3-Clause
# The CMake languages ASC (*.asc) and AICPU (*.aicpu). CMake asks for four files of each; these
# macros are what is in them.

# CMakeDetermine<L>Compiler
macro(hcomm_determine_compiler_ language extension)
    set(CMAKE_${language}_COMPILER_ENV_VAR HCOMM_${language})
    get_filename_component(CMAKE_${language}_COMPILER
                           "${CMAKE_CURRENT_LIST_DIR}/../../../../asc/bin/hcomm-asc" ABSOLUTE)
    file(WRITE "${CMAKE_PLATFORM_INFO_DIR}/CMake${language}Compiler.cmake"
"set(CMAKE_${language}_COMPILER \"${CMAKE_${language}_COMPILER}\")
set(CMAKE_${language}_COMPILER_ENV_VAR HCOMM_${language})
set(CMAKE_${language}_COMPILER_LOADED 1)
set(CMAKE_${language}_SOURCE_FILE_EXTENSIONS ${extension})
set(CMAKE_${language}_OUTPUT_EXTENSION .o)
set(CMAKE_${language}_LINKER_PREFERENCE 5)
")
endmacro()

# CMake<L>Information
macro(hcomm_language_information_ language)
    if(CMAKE_CXX_COMPILER)
        set(CMAKE_${language}_HOST_COMPILER_OPTION "--cxx=\"${CMAKE_CXX_COMPILER}\"")
    endif()
    set(CMAKE_INCLUDE_FLAG_${language} -I)
    set(CMAKE_${language}_COMPILE_OPTIONS_PIC -fPIC)
    set(CMAKE_${language}_COMPILE_OPTIONS_PIE -fPIE)
    set(CMAKE_${language}_COMPILE_OPTIONS_VISIBILITY -fvisibility=)
    set(CMAKE_SHARED_LIBRARY_${language}_FLAGS -fPIC)
    set(CMAKE_${language}_COMPILE_OBJECT
        "<CMAKE_${language}_COMPILER> ${CMAKE_${language}_HOST_COMPILER_OPTION} <DEFINES> <INCLUDES> <FLAGS> -o <OBJECT> -c <SOURCE>")
    set(CMAKE_${language}_CREATE_SHARED_LIBRARY
        "<CMAKE_CXX_COMPILER> -shared <LINK_FLAGS> -Wl,-soname,<TARGET_SONAME> -o <TARGET> <OBJECTS> <LINK_LIBRARIES>")
    set(CMAKE_${language}_LINK_EXECUTABLE
        "<CMAKE_CXX_COMPILER> <LINK_FLAGS> <OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
    set(CMAKE_${language}_DEPFILE_FORMAT gcc)
    set(CMAKE_${language}_DEPENDS_USE_COMPILER TRUE)
    set(CMAKE_DEPFILE_FLAGS_${language} "-MD -MT <DEP_TARGET> -MF <DEP_FILE>")
    set(CMAKE_${language}_INFORMATION_LOADED 1)
endmacro()

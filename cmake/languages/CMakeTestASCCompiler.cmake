# SPDX-License-Identifier: BSD-3-Clause
set(CMAKE_ASC_COMPILER_WORKS 1) # it is the C++ compiler, which CMake tests

#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Each public header, alone, as C11 and as C++14, with warnings as errors.
set -u
cd "$(dirname "$0")/../../include"
failed=0
cpp_only="external/ge_common/api_error_codes.h base/err_msg.h base/err_mgr.h err_msg.h err_mgr.h acl/acl_rt_api.h"
for header in $(find . -name '*.h' | sed 's|^\./||' | sort); do
    case " $cpp_only " in
    *" $header "*) ;;
    *)
        printf '#include "%s"\ntypedef int unit_is_not_empty;\n' "$header" | cc -std=c11 -pedantic -Wall -Wextra -Wstrict-prototypes \
            -Wfloat-equal -Werror -I . -fsyntax-only -x c - || failed=1
        ;;
    esac
    echo "#include \"$header\"" | c++ -std=c++14 -Wall -Wextra -Wfloat-equal -Werror -I . \
        -fsyntax-only -x c++ - || failed=1
done
exit "$failed"

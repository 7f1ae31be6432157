# SPDX-License-Identifier: BSD-3-Clause
# Source this file: the shell then finds this installation. bash, zsh, dash and other POSIX shells.

# A sourced file does not know its name in POSIX; each shell has a way of its own.
if [ -n "${BASH_VERSION:-}" ]; then
    eval 'hcomm_env_file=${BASH_SOURCE[0]}'
elif [ -n "${ZSH_VERSION:-}" ]; then
    eval 'hcomm_env_file=${(%):-%x}'
else # the shell has it open while it reads it; of several, the one opened last
    hcomm_env_file=
    hcomm_env_pid=$(exec sh -c 'echo $PPID')
    for hcomm_env_fd in 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
        case $(readlink "/proc/$hcomm_env_pid/fd/$hcomm_env_fd" 2>/dev/null) in
        */set_env.sh) hcomm_env_file=$(readlink "/proc/$hcomm_env_pid/fd/$hcomm_env_fd") ;;
        esac
    done
    unset hcomm_env_pid hcomm_env_fd
fi
case $hcomm_env_file in
*/*) hcomm_env_home=$(CDPATH='' cd "${hcomm_env_file%/*}" && pwd -P) ;;
?*) hcomm_env_home=$(pwd -P) ;;
*) hcomm_env_home= ;;
esac

# hcomm_env_prepend VARIABLE DIRECTORY: in front, and nowhere else.
hcomm_env_prepend() {
    eval "hcomm_env_old=:\${$1:-}:"
    case $hcomm_env_old in
    *":$2:"*) hcomm_env_old=${hcomm_env_old%%":$2:"*}:${hcomm_env_old#*":$2:"} ;;
    esac
    hcomm_env_old=${hcomm_env_old#:}
    hcomm_env_old=${hcomm_env_old%:}
    eval "export $1=\"\$2\${hcomm_env_old:+:\$hcomm_env_old}\""
    unset hcomm_env_old
}

if [ -e "$hcomm_env_home/lib64/libhcomm.so" ]; then
    export ASCEND_HOME_PATH="$hcomm_env_home"
    export ASCEND_TOOLKIT_HOME="$hcomm_env_home"
    export ASCEND_OPP_PATH="$hcomm_env_home/opp"
    hcomm_env_prepend PATH "$hcomm_env_home/bin"
    hcomm_env_prepend LD_LIBRARY_PATH "$hcomm_env_home/lib64"
    hcomm_env_prepend CMAKE_PREFIX_PATH "$hcomm_env_home"
    hcomm_env_prepend PKG_CONFIG_PATH "$hcomm_env_home/lib64/pkgconfig"
else
    echo "set_env.sh: this shell does not tell where the file is: source it from bash or zsh" >&2
fi
unset hcomm_env_file hcomm_env_home
unset -f hcomm_env_prepend

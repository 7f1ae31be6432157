#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Removes the operator packages of this vendor from the installation that the file lies in.
# uninstall.sh [NAME...]: only these packages, such as p2p.
here=$(CDPATH='' cd "$(dirname "$0")" && pwd -P) || exit 1
exec sh "$here/install.sh" --uninstall-here "$@"

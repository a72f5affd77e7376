#!/bin/sh
# SPDX-License-Identifier: MIT
# all.sh BUILD: the tables of figures (`make bench`), measured by schedule.sh, host.py, costs.py and int8.py.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
sh "$here/schedule.sh" "$1"
echo
command -v python3 > /dev/null || { echo "skipped: python3 is not installed"; exit 0; }
python3 "$here/costs.py" "$1"
python3 "$here/int8.py" "$1"
echo
command -v gcc > /dev/null || { echo "skipped host.py: gcc is not installed"; exit 0; }
python3 "$here/host.py" "$1"

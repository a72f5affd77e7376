# SPDX-License-Identifier: MIT
# The beginning of the samples' run.sh, which sources it as `. "$(dirname "$0")/../prepare.sh"`: sets here, root, build
# (the argument), work and cc. build_main: builds main.c of the sample with the library, as $work/main.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
build=$(cd "${1:-$root/build}" && pwd)
work=$build/$(basename "$here")
cc=${CC:-cc}
mkdir -p "$work"

build_main() {
    [ -f "$build/libloopwright.a" ] || { echo "there is no $build/libloopwright.a: make library" >&2; exit 1; }
    rm -rf "$work"
    mkdir -p "$work"
    $cc -std=c99 -Wall -Wextra -I"$root/emitter" "$here/main.c" "$build/libloopwright.a" -lm -o "$work/main"
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# names.sh BUILD: every command that emits C, on a network whose names no identifier, comment or string may hold as they
# are (tests/tools/names_model.py). What is emitted compiles without a warning and computes what the interpreter does.
set -u
. "$(dirname "$0")/report.sh"
begin "names.sh BUILD" "$@"
rm -rf "${work:?}"/*

# Building takes most of the time.
case $cc in *" -O"*) ;; *) cc="$cc -O0"; export CC="$cc" ;; esac
strict="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Werror"
hostile=tests/names/hostile.onnx samples=tests/names/hostile.npy

builds() { $cc $strict -Iruntime -I"$work" "$@" -c "$work/m.c" -o "$work/m.o"; }
emits() { "$lw" "$hostile" --name m -o "$work/m.c" "$@" && builds; }
check compiled                emits
check compiled-with-layers    emits --layers
check compiled-with-profile   emits --profile
check compiled-standalone     emits --standalone --static-arena --stamp
check compiled-with-selftest  emits --selftest random
check compiled-with-weights   emits --weights bin
check compiled-with-testbench emits --testbench
check compiled-for-a-target   emits --target cortex-m4
check compiled-to-train       emits --train 'loss=mse optimizer=sgd(rate=0.1) update=all'

check verified                "$lw" verify "$hostile"
check verified-with-layers    "$lw" verify "$hostile" --layers
check verified-with-profile   "$lw" verify "$hostile" --profile
check evaluated               "$lw" evaluate "$hostile" --test "$samples" --reference "$hostile"
check reported                "$lw" report "$hostile" --cc "$cc" -o "$work/report.html"
check packaged                "$lw" package "$hostile" --for make -o "$work/package"
printf '#!/bin/sh\n"$@" && echo "instructions 1"\n' > "$work/runner"
chmod +x "$work/runner"
check tuned                   "$lw" tune "$hostile" --runner "$work/runner" -o "$work/tune.txt"

quantizes() { "$lw" quantize "$hostile" --samples "$samples" --name m -o "$work/m.c" "$@" && builds; }
check quantized               quantizes
check quantized-in-16-bits    quantizes --ports int16
check quantized-and-tested    quantizes --test "$samples"
check quantized-and-trained   quantizes --finetune 1 --test "$samples"
check quantized-to-a-bound    quantizes --ports float --min-sqnr 60 --sensitivity --report "$work/q.html"

# Each stage is read back, and gives C that compiles.
stages() {
    for stage in annotated calibrated realized; do
        set -- --samples "$samples"
        [ $stage != annotated ] || set --
        "$lw" dump "$hostile" --at $stage "$@" -o "$work/$stage.te" || return 1
    done
    "$lw" quantize "$work/annotated.te" --samples "$samples" --name m -o "$work/m.c" && builds &&
        "$lw" verify "$work/calibrated.te" && "$lw" evaluate "$work/calibrated.te" --test "$samples" &&
        "$lw" verify "$work/realized.te"
}
check stages-are-read-back    stages

report_end

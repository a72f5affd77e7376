#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# link.sh CHIP NET_DIR: links NET_DIR/net.c, emitted with --name net, for rp2040, rp2350 or esp32c3, and prints bytes of
# flash and RAM. CFLAGS: the optimisation (default -O2). The linker refuses a network that does not fit.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -eq 2 ] || { sed -n '3,4s/^# //p' "$0" >&2; exit 2; }
chip=$1 net=$2
case $chip in
rp2040) cc=(arm-none-eabi-gcc -mcpu=cortex-m0plus -mthumb --specs=nano.specs) ;;
rp2350) cc=(arm-none-eabi-gcc -mcpu=cortex-m33 -mthumb -mfloat-abi=hard -mfpu=fpv5-sp-d16 --specs=nano.specs) ;;
esp32c3) cc=(riscv64-unknown-elf-gcc -march=rv32imc -mabi=ilp32 --specs=picolibc.specs) ;;
*) echo "link.sh: '$chip' is not a chip; use rp2040, rp2350 or esp32c3" >&2; exit 2 ;;
esac
command -v "${cc[0]}" > /dev/null || { echo "skipped: ${cc[0]} is not installed"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
read -r -a flags <<< "${CFLAGS:--O2}"
"${cc[@]}" -std=c99 -ffp-contract=off "${flags[@]}" -ffunction-sections -fdata-sections -I"$net" \
    -I"$here/../../runtime" -nostartfiles -Wl,--gc-sections -Wl,--no-warn-rwx-segments -L"$here" -L"$here/../cortex-m" \
    -Wl,-T,"$here/$chip.ld" "$here/link.c" "$net/net.c" -lm -o "$work/image"
"${cc[0]%gcc}size" -A "$work/image" | awk -v chip="$chip" '
    /^\.(boot2|vectors|image|text|rodata|exidx|data) / { flash += $2 }
    /^\.(stack|data|bss) / { ram += $2 }
    END { print chip ": flash " flash " bytes, RAM " ram " bytes" }'

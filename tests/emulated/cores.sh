# SPDX-License-Identifier: MIT
# Sourced. Programs for other processors, on qemu's user mode. A core is a name of this table; its compiler and emulator
# are Debian's packages of the last column.

# core_row CORE: sets compiler, flags, emulator and packages.
core_row() {
    case $1 in
    rv64gcv) compiler=clang-16 emulator="qemu-riscv64 -cpu rv64,v=true,vlen=128,vext_spec=v1.0"
        flags="--target=riscv64-linux-gnu -march=rv64gcv -fuse-ld=lld-16 -static"
        packages="clang-16 lld-16 libc6-dev-riscv64-cross qemu-user" ;;
    rv64gcv-vlen256) core_row rv64gcv; emulator="qemu-riscv64 -cpu rv64,v=true,vlen=256,vext_spec=v1.0" ;;
    rv64gcv-lmul1) core_row rv64gcv; flags="$flags -DLW_RVV_LMUL=1" ;;
    rv64gc) compiler=riscv64-linux-gnu-gcc emulator="qemu-riscv64 -cpu rv64" flags="-march=rv64gc -static"
        packages="gcc-riscv64-linux-gnu libc6-dev-riscv64-cross qemu-user" ;;
    rv32imc) compiler=riscv64-unknown-elf-gcc emulator="qemu-riscv32 -cpu rv32"
        flags="--specs=picolibc.specs -march=rv32imc -mabi=ilp32 -nostartfiles -static tests/emulated/start.c
            -Wl,--defsym=__flash=0x10000,--defsym=__flash_size=0x4000000
            -Wl,--defsym=__ram=0x8000000,--defsym=__ram_size=0x4000000"
        packages="gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf qemu-user" ;;
    aarch64) compiler=aarch64-linux-gnu-gcc emulator="qemu-aarch64 -cpu cortex-a72" flags="-mcpu=cortex-a72 -static"
        packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user" ;;
    aarch64-dotprod) core_row aarch64
        emulator="qemu-aarch64 -cpu cortex-a76" flags="-march=armv8.2-a+dotprod -static" ;;
    aarch64-i8mm) core_row aarch64; emulator="qemu-aarch64 -cpu max" flags="-march=armv8.2-a+dotprod+i8mm -static" ;;
    aarch64-clang) core_row aarch64-i8mm; compiler=clang-16 flags="--target=aarch64-linux-gnu $flags" ;;
    armv7-neon) compiler=arm-linux-gnueabihf-gcc emulator="qemu-arm -cpu cortex-a7"
        flags="-mcpu=cortex-a7 -mfpu=neon-vfpv4 -static"
        packages="gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user" ;;
    *) echo "cores.sh: no core $1" >&2; return 2 ;;
    esac
}

# core_misses: the packages, if the compiler or the emulator is not there.
core_misses() {
    for tool in "$compiler" "${emulator%% *}"; do
        command -v "$tool" > /dev/null || { echo "$packages not installed"; return; }
    done
}

# core_build PROGRAM WORD...: compiles for the core.
# shellcheck disable=SC2086
core_build() {
    program=$1
    shift
    $compiler $flags -std=c99 -ffp-contract=off -Iruntime "$@" -lm -o "$program"
}

#!/bin/sh
# SPDX-License-Identifier: MIT
# package.sh BUILD: `loopwright package` for each kind, and `make install` with find_package(Loopwright). Packages are
# built by their own build files where the tool is here (make, cmake with ninja, avr-gcc), else by their structure: each
# file that a manifest names exists, and the platform's functions of CMake are stubs. The self-test of each runs.
set -u
. "$(dirname "$0")/report.sh"
. "$(dirname "$0")/python.sh"
begin "package.sh BUILD" "$@"
rm -rf "$work"/*

flags="-std=c99 -pedantic -Wall -Wextra -Wconversion -Wshadow -Wdouble-promotion -Werror -O1 -ffp-contract=off"
digits=samples/digits/digits.onnx
int8=tests/fuzz/corpus-tflite/conv-int8.tflite
filter=tests/emitted/filter.te
kinds="make cmake arduino platformio zephyr esp-idf cmsis-pack"

# ---- Of every kind, for three models: a float network, an integer one, one with state --------------------------------

create() {
    for kind in $kinds; do
        "$lw" package $digits --for $kind --name digits -o "$work/digits/$kind" &&
        "$lw" package $int8 --for $kind --name tiny -o "$work/tiny/$kind" &&
        "$lw" package $filter --for $kind --state level=new_level --state last=new_last -o "$work/filter/$kind" ||
        return 1
    done
}
setup package-is-written create

# No word of a template is left; no file is empty.
is_expanded() {
    ! grep -rn '@[A-Za-z_]*@' "$work/digits" "$work/tiny" "$work/filter" || return 1
    ! find "$work/digits" "$work/tiny" "$work/filter" -type f -size 0 | grep .
}
check package-has-no-word-of-a-template is_expanded

# passes KIND MODEL: the package's C compiles without a warning, and its self-test passes.
passes() {
    folder=$work/$2/$1 src=$work/$2/$1
    [ -d "$folder/src" ] && src=$folder/src
    # shellcheck disable=SC2086
    "$cc" $flags -I"$src" -o "$folder/check" "$work/$2/make/test/main.c" "$src/$2.c" "$src/$2_selftest.c" -lm &&
        "$folder/check"
}
for kind in $kinds; do
    for model in digits tiny filter; do check "package-$kind-$model-passes-its-selftest" passes "$kind" "$model"; done
done

# One wrong expected value is one wrong element.
finds_difference() {
    cp -r "$work/$1/make" "$work/$1/wrong"
    awk '/^static const .* expected_/ { print; getline; sub(/^ *-?[0-9.e-]*f?/, "77"); print; next } { print }' \
        "$work/$1/make/$1_selftest.c" > "$work/$1/wrong/$1_selftest.c"
    "$cc" -I"$work/$1/wrong" -o "$work/$1/wrong/check" "$work/$1/wrong/test/main.c" "$work/$1/wrong/$1.c" \
        "$work/$1/wrong/$1_selftest.c" -lm
    "$work/$1/wrong/check" > "$work/said" && return 1
    cat "$work/said"
    grep -q ': 1 elements' "$work/said"
}
check package-selftest-finds-a-wrong-float finds_difference digits
check package-selftest-finds-a-wrong-integer finds_difference tiny

is_same() {
    "$lw" package $int8 --for zephyr --name tiny -o "$work/again" && diff -r "$work/again" "$work/tiny/zephyr" -x check
}
check package-has-same-bytes is_same

# shows KIND MODEL WORDS: the package's README has WORDS, a pattern of grep.
shows() { grep -e "$3" "$work/$2/$1/README.md" || { cat "$work/$2/$1/README.md"; return 1; }; }
check package-readme-converts-quantized-inputs shows make tiny '^    tiny_quantize_x_all(real_x, input_x);$'
check package-readme-converts-quantized-outputs shows make tiny '^    tiny_dequantize_y_all(output_y, real_y);$'
converts() {
    { sed -n '/^#include "tiny.h"/,/^```/p' "$work/tiny/make/README.md" | grep -v '```'
      echo 'void convert(float *real_x, float *real_y);'
      echo 'void convert(float *real_x, float *real_y) {'
      sed -n '/^    tiny_quantize/,/^```/p' "$work/tiny/make/README.md" | grep -v '```'
      echo '}'; } > "$work/convert.c"
    "$cc" -std=c99 -Wall -Werror -I"$work/tiny/make" -c "$work/convert.c" -o "$work/convert.o"
}
check package-readme-compiles converts
no_conversion() { ! grep quantize_ "$work/digits/make/README.md"; }
check package-readme-of-floats-converts-nothing no_conversion
check package-readme-lists-headers shows make digits 'DIGITS_HEADERS'
check package-readme-has-chips-of-both-cores shows esp-idf digits 'xtensa.*esp32s3\|Xtensa.*esp32'
check package-readme-explains-selftest-bytes shows arduino digits '336 (296 of recorded values'
says_output() {
    said=$(sed -n 's/.*# prints: \(.*\)N ms$/\1/p' "$work/digits/zephyr/README.md")
    [ "$said" ] && grep -F "$(echo "$said" | sed 's/ 0 / %ld /')%d ms" "$work/digits/zephyr/samples/run/src/main.c"
}
check package-readme-prints-what-the-sample-prints says_output

# ---- Build files -----------------------------------------------------------------------------------------------------

check package-make-runs-its-check make -C "$work/digits/make" check CC="$cc"
decides_sizes() {
    "$lw" package tests/models/control.onnx --for make -o "$work/control" --quiet &&
        make -C "$work/control" check CC="$cc" &&
        grep -q 'wrong += size_rows_0 != ' "$work/control/control_selftest.c"
}
check package-selftest-compares-decided-sizes decides_sizes

with_cmake() {
    why=$(missing cmake ninja)
    if [ "$why" ]; then skip "$1" "$why"; else check "$@"; fi
}
runs_ctest() {
    cmake -G Ninja -S "$work/$1/cmake" -B "$work/$1/build" && cmake --build "$work/$1/build" &&
        ctest --test-dir "$work/$1/build" --output-on-failure
}
for model in digits tiny filter; do with_cmake "package-cmake-$model-runs-its-test" runs_ctest $model; done

# The platform's functions as stubs that add a library.
stub_project() {
    mkdir -p "$work/$1-$2"
    cat > "$work/$1-$2/CMakeLists.txt" << EOF
cmake_minimum_required(VERSION 3.13)
project(stub LANGUAGES C)
function(zephyr_include_directories)
    include_directories(\${ARGV})
    set_property(DIRECTORY PROPERTY INCLUDE_DIRECTORIES "\${CMAKE_CURRENT_SOURCE_DIR}/src")
endfunction()
function(zephyr_library)
    file(WRITE "\${CMAKE_BINARY_DIR}/empty.c" "")
    add_library(part STATIC "\${CMAKE_BINARY_DIR}/empty.c")
    target_include_directories(part PUBLIC "\${CMAKE_CURRENT_SOURCE_DIR}/src")
endfunction()
function(zephyr_library_sources)
    target_sources(part PRIVATE \${ARGV})
endfunction()
function(zephyr_library_sources_ifdef feature)
    if(\${feature})
        target_sources(part PRIVATE \${ARGN})
    endif()
endfunction()
function(zephyr_library_compile_options)
    target_compile_options(part PRIVATE \${ARGV})
endfunction()
function(idf_component_register)
    cmake_parse_arguments(PARSE_ARGV 0 idf "" "" "SRCS;INCLUDE_DIRS;REQUIRES")
    add_library(part STATIC \${idf_SRCS})
    target_include_directories(part PUBLIC \${idf_INCLUDE_DIRS})
    set(COMPONENT_LIB part PARENT_SCOPE)
endfunction()
string(TOUPPER $2 upper)
set(CONFIG_\${upper} 1)
set(CONFIG_\${upper}_SELFTEST 1)
add_subdirectory("$work/$2/$1" part)
add_executable(check "$work/$2/make/test/main.c")
target_link_libraries(check PRIVATE part m)
EOF
    cmake -G Ninja -S "$work/$1-$2" -B "$work/$1-$2/build" && cmake --build "$work/$1-$2/build" &&
        "$work/$1-$2/build/check"
}
for kind in zephyr esp-idf; do
    for model in digits tiny filter; do
        with_cmake "package-$kind-$model-builds-with-stubs" stub_project $kind $model
    done
done

# ---- Manifests -------------------------------------------------------------------------------------------------------

# What the owner edited or gave is kept when the package is written again; bytes and names follow the model.
# again KIND FILE OPTION...: writes digits as KIND into `again-KIND`; prints FILE.
again() {
    kind=$1 file=$2
    shift 2
    "$lw" package $digits --for "$kind" --name digits -o "$work/again-$kind" "$@" && cat "$work/again-$kind/$file"
}
keeps_properties() {
    again arduino library.properties > "$work/first" || return
    properties=$work/again-arduino/library.properties sensor=$work/again-arduino/examples/digits/sensor.h
    edit='s/^version=.*/version=1.2.3/; s/^author=.*/author=Ann/; s,^url=.*,url=https://ann.org,'
    sed "$edit; s/^maintainer=.*/maintainer=Bo/; s/^paragraph=.*/paragraph=old/" "$work/first" > "$properties"
    echo '// mine' >> "$sensor"
    echo 'mine' > "$work/again-arduino/LICENSE"
    again arduino library.properties > "$work/second" || return
    sed "$edit; s/^maintainer=.*/maintainer=Bo/" "$work/first" | diff - "$work/second" &&
        grep -q mine "$sensor" && grep -q mine "$work/again-arduino/LICENSE" &&
        again arduino library.properties --package-version 2.0.0 --author Cy | grep -c 'version=2.0.0\|=Cy\|ann.org' |
            grep -x 4
}
check package-again-keeps-properties keeps_properties
keeps_json() {
    again platformio library.json --author 'A "B"' --licence MIT --package-version 0.1.0-rc.1 > "$work/first" &&
        again platformio library.json > "$work/second" && diff "$work/first" "$work/second" &&
        grep 'A ."B."' "$work/first" && grep '"0.1.0-rc.1"' "$work/first" &&
        grep '"license": "MIT"' "$work/first" &&
        grep MIT "$work/again-platformio/LICENSE" || return
    ! has python3 || python3 -m json.tool "$work/again-platformio/library.json"
}
check package-again-keeps-json keeps_json
keeps_yaml() {
    again esp-idf idf_component.yml > "$work/first" || return
    sed "s/^version: .*/version: 3.1.4   /; s,^url: .*,url: 'https://ann.org'," "$work/first" \
        > "$work/again-esp-idf/idf_component.yml"
    again esp-idf idf_component.yml | grep -c '^version: "3.1.4"$\|^url: "https://ann.org"$' | grep -x 2
}
check package-again-keeps-yaml keeps_yaml
keeps_pdsc() {
    again cmsis-pack README.md --author 'Ann & Co.' --url 'https://ann.org/?a=1&b=2' --package-version 1.2.3 \
        > "$work/first" && again cmsis-pack README.md > "$work/second" && diff "$work/first" "$work/second" &&
        grep 'Ann_Co.digits.1.2.3.pack' "$work/first" || return
    pdsc=$work/again-cmsis-pack/Ann_Co.digits.pdsc
    [ "$(find "$work/again-cmsis-pack" -name '*.pdsc')" = "$pdsc" ] && grep 'a=1&amp;b=2' "$pdsc" &&
        [ "$(grep -c '"1.2.3"' "$pdsc")" -eq 3 ]
}
check package-again-keeps-pdsc keeps_pdsc
# refuses_setting OPTION VALUE WORDS
refuses_setting() {
    "$lw" package $digits --for make -o "$work/refused" "$1" "$2" 2> "$work/said" && return 1
    grep -F -e "$1 does not accept \"$2\"; use $3" "$work/said" && [ ! -e "$work/refused" ]
}
for version in 1 1.2 01.2.3 1.2.3- 1.2.3.4 v1.2.3; do
    check "package-version-$version-is-refused" \
        refuses_setting --package-version $version 'three numbers, such as 1.2.0'
done
check package-author-of-two-lines-is-refused refuses_setting --author "a
b" 'one line'
check package-url-without-scheme-is-refused refuses_setting --url ann.org 'an address that begins with https://'
check package-licence-with-a-slash-is-refused refuses_setting --licence GPL/2 'a licence of SPDX, such as MIT'
licensed() {
    for kind in $kinds; do [ -s "$work/digits/$kind/LICENSE" ] || { echo "no LICENSE for $kind"; return 1; }; done
}
check package-has-a-licence licensed
# The sketch stores real numbers of the sensor by the header's function.
check package-sketch-quantizes-its-samples \
    grep 'input_x\[i\] = tiny_quantize_x(read_sensor());' "$work/tiny/arduino/examples/tiny/tiny.ino"

# Every file that the description of the pack names exists.
pdsc_is_whole() {
    pdsc=$work/digits/cmsis-pack/Loopwright.digits.pdsc
    sed -n 's/.*<file .*name="\([^"]*\)".*/\1/p; s/.*<license>\(.*\)<.*/\1/p' "$pdsc" > "$work/named"
    [ "$(wc -l < "$work/named")" -eq 7 ] || { cat "$work/named"; return 1; }
    while read -r file; do
        [ -e "$work/digits/cmsis-pack/$file" ] || { echo "no $file"; return 1; }
    done < "$work/named"
    [ "$(sed -n 's/.*<name>\(.*\)<.*/\1/p' "$pdsc")" = digits ] && ! has xmllint || xmllint --noout "$pdsc"
}
check package-pdsc-names-its-files pdsc_is_whole
# The self-test's component requires the network's.
pdsc_requires() {
    grep 'Cgroup="Self-test".* condition="Network digits">' "$work/digits/cmsis-pack/Loopwright.digits.pdsc" &&
        sed -n '/<condition id="Network digits">/,/<\/condition>/p' "$work/digits/cmsis-pack/Loopwright.digits.pdsc" |
            grep '<require .*Cgroup="Network" Csub="digits"'
}
check package-pdsc-selftest-requires-the-network pdsc_requires

properties_are_whole() {
    for key in name version author maintainer sentence paragraph category url architectures includes; do
        grep -q "^$key=." "$work/digits/arduino/library.properties" || { echo "no $key"; return 1; }
    done
    [ -e "$work/digits/arduino/src/$(sed -n 's/^includes=//p' "$work/digits/arduino/library.properties")" ] &&
        [ -e "$work/digits/arduino/examples/digits/digits.ino" ]
}
check package-library-properties-are-whole properties_are_whole

json_is_whole() {
    for key in name version description license headers frameworks platforms; do
        grep -q "^  \"$key\": \"." "$work/digits/platformio/library.json" || { echo "no $key"; return 1; }
    done
    [ -e "$work/digits/platformio/examples/selftest/src/main.c" ] || return 1
    ! has python3 || python3 -m json.tool "$work/digits/platformio/library.json"
}
check package-library-json-is-whole json_is_whole

# ---- The ecosystems' own checkers ------------------------------------------------------------------------------------

# repeated COUNT TEXT
repeated() { awk -v n="$1" -v s="$2" 'BEGIN { while (n--) printf "%s", s }'; }
long=$(repeated 64 n)
# Packages of a name that YAML reads as no text, and of settings that each format quotes; of the longest name and
# settings.
create_owned() {
    for kind in platformio zephyr esp-idf; do
        "$lw" package $digits --for $kind --name null --author 'A "B" & <C> \ é' --url 'https://ann.org/?a=1&b=2#c' \
            --package-version 0.1.0-rc.1+b.5 --licence 'MIT OR Apache-2.0' -o "$work/null/$kind" &&
        "$lw" package $digits --for $kind --name "$long" --author "$(repeated 100 é)" \
            --url "https://ann.org/$(repeated 239 u)" --package-version "1.2.3-$(repeated 44 v)" \
            -o "$work/longest/$kind" || return 1
    done
}
setup package-of-an-owner-is-written create_owned
# checker KIND NAME PACKAGE...: checks the packages if a Python has the PACKAGEs; a wrong manifest is found, too.
checker() {
    kind=$1 name=$2
    shift 2
    if ! python=$(python_with "$@"); then
        for network in digits tiny filter null longest wrong; do
            skip "package-$kind-$network-by-$name" "no Python with $*; $python_hint"
        done
        return
    fi
    mkdir -p "$work/checkers/$kind"
    for network in digits tiny filter null longest; do
        check "package-$kind-$network-by-$name" "$python" tests/tools/package_checkers.py "$kind" \
            "$work/checkers/$kind" "$work/$network/$kind"
    done
    check "package-$kind-wrong-by-$name" finds_wrong "$kind"
}
# A wrong value in each manifest.
finds_wrong() {
    rm -rf "$work/wrong-$1" && cp -r "$work/digits/$1" "$work/wrong-$1" &&
        sed -i 's/"frameworks": "\*"/"frameworks": "A B"/; s/idf: ">=5.0"/idf: "about 5"/; s/depends on/depend on/' \
            "$work/wrong-$1"/library.json "$work/wrong-$1"/idf_component.yml "$work/wrong-$1"/Kconfig 2> /dev/null
    ! "$python" tests/tools/package_checkers.py "$1" "$work/checkers/$1" "$work/wrong-$1" > "$work/said" 2>&1 &&
        grep 'frameworks\|about 5\|depend on' "$work/said"
}
checker platformio pio platformio
checker esp-idf compote idf_component_manager ruamel.yaml
checker zephyr kconfiglib kconfiglib yaml

# A component of a CMSIS-Pack has no build in its version, also if the version is kept.
component_has_no_build() {
    "$lw" package $digits --for cmsis-pack --package-version 0.1.0-rc.1+b.5 -o "$work/build" &&
        "$lw" package $digits --for cmsis-pack -o "$work/build" &&
        grep -c ' Cversion="0.1.0-rc.1"' "$work/build"/*.pdsc | grep -x 2 &&
        grep '<release version="0.1.0-rc.1+b.5"' "$work/build"/*.pdsc
}
check package-cmsis-pack-component-has-no-build component_has_no_build

# A kind refuses what its manifest does not accept.
# beyond KIND OPTION VALUE WORD LIMITS
beyond() {
    "$lw" package $digits --for "$1" -o "$work/beyond" "$2" "$3" 2> "$work/said" && return 1
    grep -F -e "a package for $1 does not accept the $4 \"$3\"; use $2 with $5 characters" "$work/said" &&
        [ ! -e "$work/beyond" ]
}
check package-esp-idf-short-name-is-refused beyond esp-idf --name y name '2 to 64'
check package-esp-idf-long-name-is-refused beyond esp-idf --name "n$long" name '2 to 64'
check package-arduino-long-name-is-refused beyond arduino --name "$long" name '1 to 63'
check package-cmsis-pack-long-name-is-refused beyond cmsis-pack --name "$(repeated 33 n)" name '1 to 32'
check package-platformio-long-name-is-refused beyond platformio --name "$(repeated 101 n)" name '1 to 100'
check package-platformio-long-author-is-refused beyond platformio --author "$(repeated 101 é)" author '1 to 100'
check package-platformio-long-url-is-refused beyond platformio --url "https://ann.org/$(repeated 240 u)" url '1 to 255'
check package-platformio-long-version-is-refused beyond platformio --package-version "1.2.3-$(repeated 45 v)" \
    version '1 to 50'

# ---- The sketch, by the AVR compiler and a stub of Arduino's core ----------------------------------------------------

mkdir -p "$work/core"
cat > "$work/core/Arduino.h" << 'EOF'
#pragma once
#include <stdint.h>
#define A0 0
struct Port {
    void begin(long);
    void print(const char *);
    void print(char);
    void print(int, int = 10);
    void print(long, int = 10);
    void print(double, int = 2);
    void println();
    void println(long, int = 10);
};
extern Port Serial;
int analogRead(int);
void delay(unsigned long);
EOF
sketch() {
    folder=$work/$1/arduino
    for file in "$1" "$1_selftest"; do
        avr-gcc -mmcu="$2" -Os -std=gnu11 -ffunction-sections -fdata-sections -I"$folder/src" -c "$folder/src/$file.c" \
            -o "$work/$file.o" || return 1
    done
    avr-g++ -mmcu="$2" -Os -std=gnu++11 -Wall -Werror -I"$folder/src" -I"$work/core" -include Arduino.h -x c++ \
        -c "$folder/examples/$1/$1.ino" -o "$work/$1.ino.o"
}
# The sketch with Arduino's core (Debian: arduino-core-avr; ARDUINO_AVR names another folder), on the emulated board:
# the serial line reports the self-test.
arduino=${ARDUINO_AVR:-/usr/share/arduino/hardware/arduino/avr}
# DECIMAL_DIG: a macro of C++11 that avr-gcc 5 lacks.
runs_on_board() {
    folder=$work/$1/arduino core=$arduino/cores/arduino
    options="-mmcu=atmega328p -DF_CPU=16000000L -DARDUINO=10819 -DARDUINO_ARCH_AVR -DDECIMAL_DIG=9
        -Os -ffunction-sections -fdata-sections -I$core -I$arduino/variants/standard -I$folder/src"
    mkdir -p "$work/$1-board" && rm -f "$work/$1-board"/*.o
    for file in "$core"/*.c "$core"/*.S "$folder"/src/*.c; do
        # shellcheck disable=SC2086
        avr-gcc $options -c "$file" -o "$work/$1-board/$(basename "$file").o" || return 1
    done
    for file in "$core"/*.cpp; do
        # shellcheck disable=SC2086
        avr-g++ $options -std=gnu++11 -fno-exceptions -fno-threadsafe-statics -c "$file" \
            -o "$work/$1-board/$(basename "$file").o" || return 1
    done
    # shellcheck disable=SC2086
    avr-g++ $options -std=gnu++11 -include Arduino.h -x c++ -c "$folder/examples/$1/$1.ino" \
        -o "$work/$1-board/sketch.o" &&
        avr-gcc -mmcu=atmega328p -Wl,--gc-sections -o "$work/$1.elf" "$work/$1-board"/*.o -lm || return 1
    timeout 10 simavr -m atmega328p -f 16000000 "$work/$1.elf" > "$work/serial" 2>&1
    tr -d '\0' < "$work/serial" | head -n 20
    grep -a 'wrong elements in the self-test: 0' "$work/serial" && grep -a 'status 0' "$work/serial"
}
why=$(missing avr-gcc simavr)
[ "$why" ] || [ -d "$arduino" ] || why="arduino-core-avr is not installed"
for name in tiny filter; do
    if [ "$why" ]; then skip "package-sketch-$name-runs-on-the-emulated-board" "$why"
    else check "package-sketch-$name-runs-on-the-emulated-board" runs_on_board $name; fi
done

# board MCU VARIANT MODEL: the commands of docs/packages.md, on a board; no message of a compiler.
board() {
    mkdir -p "$work/page-$1" && rm -rf "$work/page-$1"/*
    sed -n '/^set -e$/,/^```$/p' docs/packages.md |
        sed -e '/^```/d; s/^simavr/timeout 10 simavr/' -e "s|^mcu=.*|mcu=$1 variant=$2|" \
            -e "s|^core=[^ ]* lib=PACKAGE name=NAME|core=$arduino lib=$work/$3/arduino name=$3|" \
            > "$work/page-$1/build.sh"
    grep -q 'timeout 10 simavr' "$work/page-$1/build.sh" || return 1
    (cd "$work/page-$1" && sh build.sh) > "$work/page-$1/said" 2>&1
    ! grep -a -e 'error: \|warning: ' "$work/page-$1/said" &&
        tr -d '\0' < "$work/page-$1/said" | grep -a 'wrong elements in the self-test: 0' && return
    head -n 20 "$work/page-$1/said"
    return 1
}
for case in "atmega328p standard" "atmega2560 mega"; do
    # shellcheck disable=SC2086
    if [ "$why" ]; then skip "package-page-builds-for-${case%% *}" "$why"
    else check "package-page-builds-for-${case%% *}" board $case tiny; fi
done

# A network with 42 kB of constants and memory does not fit into the 2 kB of an ATmega328P.
refuses_board() {
    sketch digits atmega328p > "$work/said" 2>&1 && return 1
    words='error.*digits requires 43008 bytes of RAM (arena 6016, inputs, outputs and state 296, self-test 336,'
    words="$words core and stack 512; constants: 35848 in RAM); this board has less;"
    grep "$words"' `--weights progmem`.*NO_SELFTEST' "$work/said" || { cat "$work/said"; return 1; }
}
# With its constants in program memory, the same network fits into the 8 kB of an ATmega2560.
fits_in_program_memory() {
    "$lw" package $digits --for arduino --weights progmem --name digits -o "$work/flash/arduino" || return 1
    (cd "$work/flash" && compiles_for_flash)
}
# What the refusal advises is not set already: a board with 2 kB, constants in program memory.
advises_another() { (cd "$work/flash" && refuses_small_board); }
refuses_small_board() {
    avr-g++ -mmcu=atmega328p -Os -std=gnu++11 -Iarduino/src -I"$work/core" -include Arduino.h -x c++ \
        -c arduino/examples/digits/digits.ino -o sketch.o 2> said && return 1
    words='error.*35848 in program memory.*`--ram BYTES` chooses the fastest plan within BYTES'
    grep "$words, and the refusal of .--ram 1. names the smallest plan" said && ! grep progmem said
}
# A board that has the RAM for all but the self-test: the header names the macro that leaves it out.
without_selftest() {
    sed 's/ul > RAMEND - RAMSTART + 1ul/ul > 42700ul/' "$work/digits/arduino/src/digits_arduino.h" > "$work/small.h"
    echo '#include "small.h"' > "$work/small.c"
    avr-gcc -mmcu=atmega2560 -I"$work" -I"$work/digits/arduino/src" -c "$work/small.c" -o "$work/small.o" \
        2> "$work/said" && return 1
    grep NO_SELFTEST "$work/said" &&
        avr-gcc -mmcu=atmega2560 -DDIGITS_NO_SELFTEST -I"$work" -I"$work/digits/arduino/src" -c "$work/small.c" \
            -o "$work/small.o"
}
compiles_for_flash() {
    grep -x 'architectures=avr' arduino/library.properties || return 1
    for file in digits digits_selftest; do
        avr-gcc -mmcu=atmega2560 -Os -std=gnu11 -Iarduino/src -c arduino/src/$file.c -o $file.o || return 1
    done
    avr-g++ -mmcu=atmega2560 -Os -std=gnu++11 -Wall -Werror -Iarduino/src -I"$work/core" -include Arduino.h -x c++ \
        -c arduino/examples/digits/digits.ino -o sketch.o
}
why=$(missing avr-gcc avr-g++)
for name in tiny filter; do
    if [ "$why" ]; then skip "package-sketch-$name-compiles-for-avr" "$why"
    else check "package-sketch-$name-compiles-for-avr" sketch $name atmega328p; fi
done
if [ "$why" ]; then skip package-sketch-refuses-a-small-board "$why"
else check package-sketch-refuses-a-small-board refuses_board; fi
if [ "$why" ]; then skip package-sketch-with-program-memory-fits "$why"
else check package-sketch-with-program-memory-fits fits_in_program_memory; fi
if [ "$why" ]; then skip package-sketch-advises-what-is-not-set "$why"
else check package-sketch-advises-what-is-not-set advises_another; fi
if [ "$why" ]; then skip package-sketch-without-its-selftest "$why"
else check package-sketch-without-its-selftest without_selftest; fi

# ---- make install, find_package, pkg-config --------------------------------------------------------------------------

prefix=$work/prefix
no_objcopy=$(missing objcopy)
if [ "$no_objcopy" ]; then skip package-install-writes-its-files "$no_objcopy"
else setup package-install-writes-its-files make --no-print-directory BUILD="$build" PREFIX="$prefix" install; fi

two_models() {
    mkdir -p "$work/project"
    cp $digits "$work/project/net.onnx" && cp $int8 "$work/project/net.tflite" || return 1
    cat > "$work/project/CMakeLists.txt" << 'EOF'
cmake_minimum_required(VERSION 3.13)
project(firmware LANGUAGES C)
find_package(Loopwright 0.1 REQUIRED)
loopwright_add_model(first net.onnx TARGET cortex-m4 OPTIONS --stamp)
loopwright_add_model(second net.tflite)
add_executable(firmware main.c)
target_link_libraries(firmware PRIVATE first second)
EOF
    cat > "$work/project/main.c" << 'EOF'
#include <stdio.h>
#include "first.h"
#include "second.h"
static FIRST_ARENA(a);
static SECOND_ARENA(b);
int main(void)
{
    static const float x[FIRST_INPUT_ELEMS];
    static const int8_t z[SECOND_X_ELEMS];
    float y[FIRST_SCORES_ELEMS];
    int8_t w[SECOND_Y_ELEMS];
    const struct first_inputs in = { x };
    const struct first_outputs out = { y };
    const struct second_inputs in2 = { z };
    const struct second_outputs out2 = { w };
    printf("%s %s\n", FIRST_TARGET, SECOND_TARGET);
    return first_run(a, &in, &out) || second_run(b, &in2, &out2);
}
EOF
    cmake -G Ninja -S "$work/project" -B "$work/project/build" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$work/project/build" &&
        [ "$("$work/project/build/firmware")" = "cortex-m4 generic" ]
}
with_cmake() {
    why=$(missing cmake ninja objcopy)
    if [ "$why" ]; then skip "$1" "$why"; else check "$@"; fi
}
with_cmake package-cmake-project-with-two-models two_models

# A model that changes is compiled again; a wrong word is refused with those that are accepted.
renews() {
    touch "$work/project/net.tflite"
    cmake --build "$work/project/build" | grep 'net.tflite'
}
with_cmake package-cmake-renews-a-changed-model renews
# A file among OPTIONS is relative to the source folder, and its change renews the C. Without a build type, the model is
# optimized.
named_file() {
    mkdir -p "$work/files" && cp $digits "$work/files/net.onnx" &&
        printf 'a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n' > "$work/files/labels.txt"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(files LANGUAGES C)' \
        'find_package(Loopwright REQUIRED)' 'loopwright_add_model(net net.onnx OPTIONS --class-names labels.txt)' \
        > "$work/files/CMakeLists.txt"
    cmake -G Ninja -S "$work/files" -B "$work/files/build" -DCMAKE_PREFIX_PATH="$prefix" &&
        cmake --build "$work/files/build" -v > "$work/said" || { cat "$work/said"; return 1; }
    grep -e ' -O2 .*net\.c' "$work/said" || return 1
    sed -i s/^a/other/ "$work/files/labels.txt" && cmake --build "$work/files/build" &&
        grep other "$work/files/build/loopwright/net/net.h" || return 1
    cmake -S "$work/files" -B "$work/files/build" -DCMAKE_BUILD_TYPE=MinSizeRel &&
        cmake --build "$work/files/build" -v > "$work/said" && ! grep -e '-O2' "$work/said"
}
with_cmake package-cmake-names-files-of-the-source-folder named_file
# An -O of the project's flags, of a toolchain file or of add_compile_options stays.
keeps_flags() {
    rm -rf "$work/flags" && mkdir -p "$work/flags" && cp $digits "$work/flags/net.onnx"
    printf 'set(CMAKE_C_FLAGS_INIT "-Os")\n' > "$work/flags/toolchain.cmake"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(flags LANGUAGES C)' \
        'add_compile_options(${option})' 'find_package(Loopwright REQUIRED)' 'loopwright_add_model(net net.onnx)' \
        "add_subdirectory($work/digits/cmake digits)" > "$work/flags/CMakeLists.txt"
    cmake -G Ninja -S "$work/flags" -B "$work/flags/build" -DCMAKE_PREFIX_PATH="$prefix" "$@" &&
        cmake --build "$work/flags/build" -v > "$work/said" || { cat "$work/said"; return 1; }
    grep -c -e ' -Os .*\(net\|digits\)\.c' "$work/said" | grep -qx 2 && ! grep -e '-O2' "$work/said"
}
with_cmake package-cmake-keeps-the-size-of-flags keeps_flags -DCMAKE_C_FLAGS=-Os
with_cmake package-cmake-keeps-the-size-of-a-toolchain keeps_flags -DCMAKE_TOOLCHAIN_FILE="$work/flags/toolchain.cmake"
with_cmake package-cmake-keeps-the-size-of-options keeps_flags -Doption=-Os
refuses_cxx() {
    rm -rf "$work/cxx" && mkdir -p "$work/cxx" && cp $digits "$work/cxx/net.onnx"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.13)' 'project(a CXX)' 'find_package(Loopwright REQUIRED)' \
        'loopwright_add_model(net net.onnx)' > "$work/cxx/CMakeLists.txt"
    cmake -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$prefix" > "$work/said" 2>&1 && return 1
    tr '\n' ' ' < "$work/said" | grep 'models are C, which project() does not enable'
}
with_cmake package-cmake-of-cxx-alone-is-refused refuses_cxx
refuses_word() {
    echo 'loopwright_add_model(third net.onnx TARGETS generic)' >> "$work/project/CMakeLists.txt"
    cmake -S "$work/project" -B "$work/project/build" > "$work/said" 2>&1 && return 1
    tr '\n' ' ' < "$work/said" | grep "use TARGET T, OPTIONS  *WORD"
}
with_cmake package-cmake-refuses-a-wrong-word refuses_word

links_library() {
    printf '#include <stdio.h>\n#include <loopwright.h>\nint main(void) { return puts(lw_version()) < 0; }\n' \
        > "$work/version.c"
    # shellcheck disable=SC2046
    "$cc" "$work/version.c" -o "$work/version" \
        $(PKG_CONFIG_PATH=$prefix/lib/pkgconfig pkg-config --cflags --libs loopwright) &&
        [ "loopwright $("$work/version")" = "$("$lw" --version)" ]
}
why=$(missing pkg-config objcopy)
if [ "$why" ]; then skip package-pkg-config-links-the-library "$why"
else check package-pkg-config-links-the-library links_library; fi

# ---- Refusals --------------------------------------------------------------------------------------------------------

ends() {
    want=$1 words=$2 status=0
    shift 2
    "$lw" "$@" > "$work/said" 2>&1 || status=$?
    grep -q -e "$words" "$work/said" && [ "$status" -eq "$want" ] || { cat "$work/said"; return 1; }
}
check package-without-kind-is-refused ends 2 'use make, cmake, arduino, platformio, zephyr, esp-idf, cmsis-pack' \
    package $digits -o "$work/none"
check package-near-kind-is-refused ends 2 "there is no kind of package \"arduno\"; did you mean 'arduino'?" \
    package $digits --for arduno -o "$work/none"
check package-other-kind-is-refused ends 2 'there is no kind of package "deb"; use make, cmake' \
    package $digits --for deb -o "$work/none"
check package-folder-that-is-a-file-is-refused ends 1 'cannot create this folder' \
    package $digits --for make -o tests/package.sh
one_line() {
    ends 1 '"tests/package.sh" is a file' package $digits --for make -o tests/package.sh/a/b &&
        [ "$(wc -l < "$work/said")" -eq 1 ]
}
check package-file-in-its-path-is-named one_line
nothing_is_written() { [ ! -e "$work/none" ]; }
check package-weights-in-a-file-are-refused ends 2 \
    'a package does not accept --weights bin; use c|progmem|section=NAME' \
    package $digits --for make --weights bin -o "$work/none"
check package-refused-writes-nothing nothing_is_written

# A write that fails, as on a full disk, leaves no folder that the package has created; what was there stays.
leaves_nothing() {
    rm -rf "$work/full" && mkdir "$work/full" || return
    (trap '' XFSZ; ulimit -f 4; ends 1 'cannot write' package $digits --for cmake -o "$work/full/new/package") &&
        [ "$(find "$work/full")" = "$work/full" ] || { find "$work/full"; return 1; }
    mkdir "$work/full/kept" &&
        (trap '' XFSZ; ulimit -f 4; ends 1 'cannot write' package $digits --for cmake -o "$work/full/kept") &&
        [ "$(find "$work/full" | wc -l)" -eq 2 ] || { find "$work/full"; return 1; }
    echo text > "$work/full/file"
    ends 1 'cannot create this folder' package $digits --for make -o "$work/full/file" && [ -s "$work/full/file" ]
}
check package-on-a-full-disk-leaves-no-folder leaves_nothing

report_end

# SPDX-License-Identifier: MIT
# counts NAME HOW: prints the arguments that shorten the unit test NAME: fewer random networks, files or operators. HOW
# is `test` (for `make test`) or `sanitize` (with the sanitizers, which also leave out C that they do not see). Without
# these arguments a test runs all of them, as in `make check-all`. `-` stands for no arguments.
counts() {
    awk -v name="$1" -v column="$([ "$2" = test ] && echo 2 || echo 3)" -F ' *[|]' \
        '$1 == name && $column != "-" { print $column }' << 'TABLE'
test_annotation_passes |8           |5
test_check_mutants     |1 200       |-
test_gradient          |1           |1
test_hostile           |--one-in 37 |--one-in 37
test_plan              |-           |1 100
test_quantize          |8           |8
test_quantize_layers   |20          |15
test_random_schedules  |1 50        |1 200
test_realize           |20          |10
test_registry          |--one-in 3  |--interpret
test_scale             |4           |-
test_simplify          |-           |150
test_tflite_reference  |20          |10
TABLE
}

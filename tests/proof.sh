#!/bin/sh
# SPDX-License-Identifier: MIT
# proof.sh BUILD [MODEL...]: emits each model with --acsl and runs its proof: Frama-C, with why3, z3 and cvc4, proves
# the C again. A goal that is not proved or an alarm is a failure. FLAGS has options of the compiler. Without models,
# the networks whose proof is complete, and the run and the helpers of other networks.
#
# tests/proof/proved.txt keeps the proved layers: a key of all that the proof of a layer depends on (its text, the
# contracts of the functions that it calls, the versions of the tools), the number of goals, the function. A layer with
# a known key is not proved again, so a change of the emitted text costs the proof of what changed. Always proved are
# the run and the helpers of each model, and all of dense-int8. `make proof FRESH=1` proves everything;
# RECORD=1 writes the file.
set -u
. "$(dirname "$0")/report.sh"
begin "proof.sh BUILD [MODEL...]" "$1"
shift
recorded=tests/proof/proved.txt
always=tests/golden/dense-int8/dense-int8.te
runs="../shared/models/mlperf-tiny/ad01_int8.tflite ../shared/models/mlperf-tiny/kws_ref_model.tflite"
[ $# -gt 0 ] && runs= || set -- $always
tools=$(missing frama-c why3 z3 cvc4)
PROOF_CACHE=$work/proved.txt
export PROOF_CACHE
if [ -n "${FRESH:-}" ]; then : > "$PROOF_CACHE"; else cat $recorded "$PROOF_CACHE" > "$work/all.txt" 2> /dev/null
    sort -u "$work/all.txt" > "$PROOF_CACHE"; fi

# proved MODEL NAME [PART]: all goals, without an alarm.
proved() {
    mkdir -p "$work/$2"
    # shellcheck disable=SC2086
    "$lw" "$1" --standalone --acsl --quiet ${FLAGS:-} -o "$work/$2/$2.c" || return 1
    # shellcheck disable=SC2086
    if [ "$1" = $always ]; then PROOF_CACHE='' sh "$work/$2/$2_proof.sh"; else sh "$work/$2/$2_proof.sh" ${3:-}; fi
}

# prove MODEL CASE [PART]
prove() {
    name=${1##*/} name=${name%.*}
    if [ ! -f "$1" ]; then skip "$2-$name" "no recorded models beside the project"
    elif [ -n "$tools" ]; then skip "$2-$name" "$tools"
    else
        # shellcheck disable=SC2086
        check "$2-$name" proved "$1" "$name" ${3:-}
        [ -z "${SHOW:-}" ] || cat "$log"
    fi
}
for model in "$@"; do prove "$model" proof; done
for model in $runs; do prove "$model" proof-of-the-run run; done
[ -z "${RECORD:-}" ] || LC_ALL=C sort -k3 "$PROOF_CACHE" > $recorded
report_end

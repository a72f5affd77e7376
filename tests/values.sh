#!/bin/sh
# SPDX-License-Identifier: MIT
# values.sh BUILD: steps, refusals and emitted calls are values, which are printed at the edge. Code that searches or
# parses text (strstr, strncmp, sscanf) is a reader of text from outside, or takes names apart; each such file stands
# below with the text that it reads. A line that is no longer true is a failure, too.
set -u
. "$(dirname "$0")/report.sh"
begin "values.sh BUILD" "$@"

# Folders of readers and of text itself, then files.
readers='
emitter/import                          files of models
emitter/command                         words of the command line
emitter/ir/text                         formulas, nests, steps
emitter/support                         text, names, paths
emitter/api/computation/handles.c       a reference of a client
emitter/api/dump.c                      --at
emitter/api/evidence/source.c           the emitted C, for its lines
emitter/api/evidence/tools.c            what tools print
emitter/api/evidence/trace.c            texts of tables
emitter/api/extend/extend.c             rows of a client
emitter/api/figures.c                   words of a compiler
emitter/api/package/package.c           paths of templates
emitter/api/package/settings.c          files of a package, an address
emitter/api/report/against.c            a report in JSON
emitter/api/report/footprint.c          what a compiler prints
emitter/api/report/functions.c          the emitted C, for the lines of functions
emitter/api/report/html_report.c        lines of the template
emitter/api/report/measure.c            what a program prints
emitter/api/report/step.c               names of functions in an object file
emitter/api/run.c                       --at
emitter/api/trial.c                     words of a compiler, a file, what a program prints
emitter/api/tune/tune.c                 a tuning record
emitter/api/verify.c                    a macro in the emitted C
emitter/cgen/apart.c                    words of the emitted C, for its digest
emitter/cgen/fork.c                     words of a call
emitter/cgen/program.c                  the places of arrays between printed constants
emitter/cgen/runtime.c                  the headers of runtime/
emitter/driver/adapt.c                  --preprocess, --postprocess
emitter/driver/assemble.c               names of macros
emitter/driver/check_inputs.c           --check-inputs
emitter/driver/combine_named.c          --combine
emitter/driver/constants.c              --weights
emitter/driver/keep_plan.c              a plan
emitter/driver/memories.c               --memory
emitter/driver/names.c                  names of layers
emitter/driver/pins.c                   names of layers
emitter/driver/portable.c               names of macros
emitter/driver/schedule_file.c          names of groups
emitter/graph/condition/condition.c     conditions of rows
emitter/graph/dag/attr.c                numbers
emitter/graph/dag/op_trial.c            formulas of rows
emitter/graph/dag/unknown_annotation.c  names of operators
emitter/graph/plan/expand.c             names
emitter/graph/plan/group_advice.c       names of groups
emitter/graph/plan/read_schedules.c     files of schedules
emitter/graph/train/update.c            formulas of rows
emitter/ir/check/check_sites.c          names of loops
emitter/ir/nest/nest.c                  names of loops
emitter/lower/comment.c                 a formula, and a line that is too long
emitter/lower/expand/storage.c          names
emitter/schedule/draft/draft.c          names of loops
emitter/schedule/draft/sizes.c          names in an extent
emitter/schedule/primitives/compute_at.c  names of stages
emitter/schedule/primitives/pack.c      words of an operand
emitter/schedule/primitives/reverse_compute_inline.c  names of loops
emitter/schedule/program.c              the first words of lines
emitter/schedule/step/role.c            roles
ops/integer/dynamic.c                   words of an attribute
ops/layers/einsum.c                     an equation
'

# FILE:LINE of each call, without string literals.
calls() {
    find emitter ops schedules -path emitter/api/package/templates -prune -o \
        \( -name '*.[ch]' -o -name '*.def' \) -print | LC_ALL=C sort | xargs awk '
        { line = $0; gsub(/"([^"\\]|\\.)*"/, "", line) }
        line ~ /(^|[^A-Za-z0-9_])(strstr|strncmp|sscanf)\(/ { print FILENAME ":" FNR }'
}

calls > "$work/calls.txt"
printf '%s\n' "$readers" | awk 'NF { print $1 }' > "$work/readers.txt"

outside() {
    awk 'NR == FNR { reader[$1] = 1; next }
        { file = $0; sub(/:[0-9]*$/, "", file)
          for (at = file; at != ""; ) { if (at in reader) next; if (!sub(/\/[^\/]*$/, "", at)) break }
          print $0 }' "$work/readers.txt" "$work/calls.txt" > "$work/outside.txt"
    cat "$work/outside.txt"
    [ ! -s "$work/outside.txt" ]
}

unused() {
    while read -r reader; do grep -q "^$reader[/:]" "$work/calls.txt" || echo "$reader"; done < "$work/readers.txt" \
        > "$work/unused.txt"
    cat "$work/unused.txt"
    [ ! -s "$work/unused.txt" ]
}

check only-readers-parse-text outside
check each-named-reader-parses-text unused
report_end

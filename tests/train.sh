#!/bin/sh
# SPDX-License-Identifier: MIT
# train.sh BUILD: --train. The emitted step of a small network against its equations in double, for each optimizer and
# word of the specification: weights after every step, interruption, samples that are not finite, refusals.
set -u
. "$(dirname "$0")/report.sh"
begin "train.sh BUILD" "$@"
net=tests/train/net.te

# trains NAME "OPTIMIZER" "WORDS" MACRO...: emits, builds without warnings, compares.
trains() {
    optimizer=$1 words=$2
    shift 2
    "$lw" $net --quiet --name net --train "loss=cross_entropy optimizer=$optimizer $words" -o "$work/net.c" &&
    $cc -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Wconversion -pedantic -Werror -I"$work" -Iruntime "$@" \
        -c "$work/net.c" -o "$work/net.o" &&
    $cc -std=c99 -O1 -Wall -Wextra -Werror -I"$work" "$@" tests/train/reference.c "$work/net.o" -lm \
        -o "$work/reference" &&
    "$work/reference"
}
check sgd                    trains 'sgd(rate=0.1)' update=last
check sgd-all                trains 'sgd(rate=0.1)' update=all -DALL
check sgd-named              trains 'sgd(rate=0.1)' 'update=hid*,scores' -DALL
check sgd-decay              trains 'sgd(rate=0.1, weight_decay=0.01)' update=all -DALL -DDECAY=0.01
check momentum               trains 'sgd(rate=0.05, momentum=0.9)' update=last -DMOMENTUM
check momentum-all           trains 'sgd(rate=0.05, momentum=0.9)' update=all -DMOMENTUM -DALL
check nesterov               trains 'sgd(rate=0.05, momentum=0.9, nesterov)' update=all -DNESTEROV -DALL
check adam                   trains 'adam(rate=0.01)' update=all -DADAM -DALL
check adam-decay             trains 'adam(rate=0.01, weight_decay=0.1)' update=all -DADAM -DALL -DDECAY=0.1
check adamw                  trains 'adamw(rate=0.01, weight_decay=0.1)' update=all -DADAMW -DALL -DDECAY=0.1
check adam-of-pytorch        trains 'adam(rate=0.01, epsilon=0.01, pytorch)' update=all -DADAM -DALL -DPYTORCH \
    -DEPSILON=0.01
check adamw-of-pytorch       trains 'adamw(rate=0.01, weight_decay=0.1, pytorch)' update=all -DADAMW -DALL -DDECAY=0.1 \
    -DPYTORCH -DEPSILON=1e-8
check rmsprop-of-pytorch     trains 'rmsprop(rate=0.01, pytorch)' update=all -DRMSPROP -DALL -DPYTORCH -DEPSILON=1e-8
check rmsprop                trains 'rmsprop(rate=0.01)' update=all -DRMSPROP -DALL
check clip                   trains 'sgd(rate=0.1, clip=0.05)' update=all -DALL -DCLIP=0.05
check clip-norm              trains 'sgd(rate=0.1, clip_norm=0.5)' update=all -DALL -DCLIP_NORM=0.5
check accumulate             trains 'adam(rate=0.01)' 'update=all accumulate=4' -DADAM -DALL -DSAMPLES=4
check accumulate-clip-norm   trains 'sgd(rate=0.1, clip_norm=0.2)' 'update=all accumulate=3' -DALL -DSAMPLES=3 \
    -DCLIP_NORM=0.2
check skip-nonfinite         trains 'adam(rate=0.01, skip_nonfinite)' update=all -DADAM -DALL -DSKIPS
check skip-and-accumulate    trains 'sgd(rate=0.1, skip_nonfinite)' 'update=all accumulate=3' -DALL -DSAMPLES=3 -DSKIPS

# takes_probabilities "LAST CALL" LOSS: the output of the call is read as probabilities, not as logits.
takes_probabilities() {
    { sed '/^y =/,$d' $net; printf '%s\noutput y\n' "$1"; } > "$work/link.te"
    for of in "" "(of=probabilities)"; do
        loss=${2%% *}$of${2#"${2%% *}"}
        "$lw" "$work/link.te" --quiet --name net --train "loss=$loss optimizer=sgd update=all" -o "$work/link$of.c" ||
            return 1
    done
    sed 's/link(of=probabilities)/link/' "$work/link(of=probabilities).c" | cmp - "$work/link.c"
}
probabilities_of_a_view() {
    { sed '/^y =/,$d' $net; printf 'p = softmax(logits)\ny = reshape(p, shape=[3])\noutput y\n'; } > "$work/view.te"
    (net=$work/view.te && trains 'sgd(rate=0.1)' update=all -DALL)
}
check probabilities-of-a-view probabilities_of_a_view
check probabilities-of-another-link takes_probabilities 'y = softmax(logits)' binary_cross_entropy
check probabilities-of-sigmoids takes_probabilities 'y = sigmoid(logits)' cross_entropy

adapts_by_low_rank() {
    "$lw" $net --quiet --name plain -o "$work/plain.c" &&
    "$lw" $net --quiet --name net --train 'loss=cross_entropy optimizer=sgd(rate=0.1) update=lora(r=2)' \
        -o "$work/net.c" &&
    $cc -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Werror -I"$work" -Iruntime tests/train/lora.c "$work/plain.c" \
        "$work/net.c" -lm -o "$work/lora" && "$work/lora"
}
check lora adapts_by_low_rank

# Dropout and batch norm in training form: against equations, and by a checkpoint to the same bits.
forms_of_training() {
    # shellcheck disable=SC2086
    "$lw" tests/train/forms.te --quiet --name forms $2 -o "$work/forms.c" \
        --train "loss=mse optimizer=sgd(rate=0.05, skip_nonfinite) update=all $1" &&
    $cc -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Werror -I"$work" -Iruntime $3 tests/train/forms.c \
        "$work/forms.c" -lm -o "$work/forms" && "$work/forms"
}
check batch-norm             forms_of_training dropout=off '' ''
check dropout                forms_of_training '' '' -DDROPOUT
check forms-and-checkpoints  forms_of_training '' '--checkpoint auto' -DDROPOUT
frozen_norms() {
    "$lw" tests/train/forms.te --quiet --name forms -o "$work/forms.c" \
        --train 'loss=mse optimizer=sgd update=all dropout=off batch_norm=frozen' &&
    ! grep -q 'running_mean\|steps;' "$work/forms.h"
}
check frozen-norms frozen_norms

# The frozen layer keeps its packed 8-bit form, and only the float head is in the struct.
frozen_integers() {
    "$lw" tests/train/mixed.te --target cortex-m4 --name mixed --quiet -o "$work/mixed.c" \
        --train 'loss=cross_entropy optimizer=sgd update=all' &&
    $cc -std=c99 -Wall -Wextra -Wconversion -pedantic -Werror -Iruntime -c "$work/mixed.c" -o "$work/mixed.o" &&
    sed -n '/^int mixed_train/,$p' "$work/mixed.c" | grep -q 'mixed_packed_dense' &&
    [ "$(sed -n '/^struct mixed_params {/,/^}/p' "$work/mixed.h" | grep -c float)" -eq 2 ]
}
check frozen-integers frozen_integers

# checksum FOLDER OPTION...: trains the digits network; prints the checksum of its parameters.
update=all
checksum() {
    folder=$work/$1
    shift
    mkdir -p "$folder"
    "$lw" samples/digits/digits.onnx --name digits --train "loss=cross_entropy optimizer=adam update=$update" "$@" \
        -o "$folder/digits.c" > "$folder/said" &&
    $cc -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Werror -I"$folder" -Iruntime tests/train/checksum.c \
        "$folder/digits.c" -lm -o "$folder/main" && "$folder/main"
}
arena_of() { sed -n 's/^#define DIGITS_TRAIN_ARENA_SIZE \([0-9]*\)u.*/\1/p' "$work/$1/digits.h"; }
checkpoints() {
    plain=$(checksum plain) && least=$(checksum least --checkpoint auto) && some=$(checksum some --checkpoint 44000) &&
    echo "$plain $least $some; $(arena_of plain) $(arena_of least) $(arena_of some)" && [ "$plain" = "$least" ] &&
    [ "$plain" = "$some" ] && [ "$(arena_of least)" -lt "$(arena_of plain)" ] && [ "$(arena_of some)" -le 44000 ]
}
check checkpoints-keep-every-bit checkpoints
low_rank() {
    update='lora(r=2)'
    plain=$(checksum plain) && least=$(checksum least --checkpoint auto) || return 1
    update=all
    echo "$plain $least; $(arena_of plain) $(arena_of least)"
    [ "$plain" = "$least" ] && [ "$(arena_of least)" -lt "$(arena_of plain)" ]
}
check checkpoints-of-low-rank low_rank

# A plain step of stochastic gradient descent has no gradient in memory, so activations alone are its peak. Some are
# computed again for each adjoint, small gradients are stored for that time, and the order follows the live bytes.
# Adam's two means read each gradient: each computes it, instead of a stored one.
# spares MODEL WORDS MOST OPTIMIZER: the same bits in an arena of at most MOST bytes.
spares() {
    for form in wide narrow; do
        mkdir -p "$work/$form" && extra=
        [ $form = narrow ] && extra='--checkpoint auto'
        # shellcheck disable=SC2086
        "$lw" "$1" --name digits --train "loss=cross_entropy optimizer=$4 update=all" $extra -o "$work/$form/digits.c" \
            > "$work/$form/said" &&
        $cc -std=c99 -O1 -ffp-contract=off -Wall -Wextra -Werror $2 -I"$work/$form" -Iruntime \
            tests/train/checksum.c "$work/$form/digits.c" -lm -o "$work/$form/main" &&
        "$work/$form/main" > "$work/$form/sum" || return 1
    done
    echo "$(arena_of wide) bytes, then $(arena_of narrow); at most $3 are expected"
    cmp -s "$work/wide/sum" "$work/narrow/sum" && [ "$(arena_of narrow)" -le "$3" ]
}
check checkpoints-of-plain-descent spares samples/digits/digits.onnx '' 13312 sgd
check checkpoints-of-means spares samples/digits/digits.onnx '' 14352 adam
kws=../shared/models/kws/kws_cnn.onnx
if [ -f $kws ]; then
    check checkpoints-of-all-layers spares $kws -DDIGITS_INPUT_ELEMS=980 24960 sgd
    check checkpoints-of-all-layers-by-adam spares $kws -DDIGITS_INPUT_ELEMS=980 24960 adam
else
    skip checkpoints-of-all-layers "no recorded models beside the project"
    skip checkpoints-of-all-layers-by-adam "no recorded models beside the project"
fi

# The report states both sides of the trade, and the emitted step with checkpoints is that of the report.
trades() {
    words='loss=cross_entropy optimizer=adam update=all'
    "$lw" report samples/digits/digits.onnx --train "$words" > "$work/trade" &&
    "$lw" report samples/digits/digits.onnx --train "$words" --checkpoint auto > "$work/traded" || return 1
    grep -h '^checkpoints\|--checkpoint auto' "$work/trade" "$work/traded"
    bytes=$(sed -n 's/.*--checkpoint auto: arena \([0-9]*\),.*/\1/p' "$work/trade")
    plain=$(sed -n 's/^checkpoints *none: arena \([0-9]*\),.*/\1/p' "$work/traded")
    grep -q "^training *arena $plain:" "$work/trade" && grep -q "^training *arena $bytes:" "$work/traded" &&
    grep -q "^instructions *about $(sed -n 's/.*auto: arena [0-9]*, about \([0-9]*\).*/\1/p' "$work/trade") " \
        "$work/traded"
}
check report-of-checkpoints trades

# The same step with constants in a section, and for other cores that round alike. Vector targets pack constant weights
# into panels; a step reads its parameters instead.
forms() {
    plain=$(checksum plain) && apart=$(checksum section --weights section=.rodata.net) &&
    cortex=$(checksum cortex --target cortex-m4) && vectors=$(checksum vectors --target x86) || return 1
    echo "plain $plain, section $apart, cortex-m4 $cortex, x86 $vectors"
    [ "$plain" = "$apart" ] && [ "$plain" = "$cortex" ] && [ "$plain" = "$vectors" ]
}
check forms-of-one-step forms

# refuses TEXT SPECIFICATION: the diagnostic contains the text, and no file is written.
refuses() {
    rm -f "$work/no.c"
    if "$lw" $net --train "$2" -o "$work/no.c" > "$work/said" 2>&1; then echo accepted; return 1; fi
    cat "$work/said"
    [ ! -e "$work/no.c" ] && grep -qF -e "$1" "$work/said"
}
check refused-word        refuses 'there is no word "los"; did you mean' 'los=mse optimizer=sgd update=all'
check refused-missing     refuses 'has no word "update"; use update=last' 'loss=mse optimizer=sgd'
check refused-twice       refuses '"loss" is given twice' 'loss=mse loss=mae optimizer=sgd update=all'
check refused-loss        refuses 'there is no loss "ctc"; use cross_entropy, binary_cross_entropy, mse' \
    'loss=ctc optimizer=sgd update=all'
# biases_of "PARAMETERS": update=biases selects those of a recurrent layer, and not a table that is added.
numbers() { seq -f '0.%g' -s ', ' "$1"; }
biases_of() {
    printf '%s\n' 'input x: f32[2][1][3]' "const w: f32[3][4] = [$(numbers 12)]" \
        "const r: f32[4][4] = [$(numbers 16)]" "const b: f32[4] = [$(numbers 4)]" \
        "const p: f32[2][1][4] = [$(numbers 8)]" "const h: f32[1][4] = [$(numbers 4)]" \
        'y = rnn(x, w, r, b, h)' 'z = add(y, p)' 'output z' > "$work/recurrent.te"
    "$lw" "$work/recurrent.te" --name net --train 'loss=mse optimizer=sgd update=biases' -o "$work/recurrent.c" ||
        return 1
    found=$(sed -n '/^struct net_params {/,/^};/s/^    float \([a-z_]*\)\[.*/\1/p' "$work/recurrent.h" | xargs)
    [ "$found" = "$1" ] || { echo "trained: $found; expected: $1"; return 1; }
}
check biases-of-a-recurrent-layer biases_of y_b

check refused-optimizer   refuses "there is no optimizer \"adan\"; did you mean 'adam'" \
    'loss=mse optimizer=adan update=all'
check refused-option      refuses "there is no option of sgd \"momentun\"; did you mean 'momentum'" \
    'loss=mse optimizer=sgd(momentun=0.9) update=all'
check refused-number      refuses '"rate=fast"; use a number from 0 to' \
    'loss=mse optimizer=sgd(rate=fast) update=all'
check refused-range       refuses '"momentum=2"; use a number from 0 to 1' \
    'loss=mse optimizer=sgd(momentum=2) update=all'
check refused-flag        refuses '"skip_nonfinite=1"; use skip_nonfinite' \
    'loss=mse optimizer=sgd(skip_nonfinite=1) update=all'
check refused-nesterov    refuses '"nesterov" without momentum' 'loss=mse optimizer=sgd(nesterov) update=all'
check refused-layer       refuses "\"score\" of update names no layer with parameters; did you mean 'scores'" \
    'loss=mse optimizer=sgd update=score'
check refused-lora        refuses 'a whole rank, like lora(r=4)' 'loss=mse optimizer=sgd update=lora'
check refused-lora-layer  refuses "\"score\" of update names no layer" \
    'loss=mse optimizer=sgd update=lora(r=2, layers=score)'
check refused-lora-rank   refuses \
    '"lora(r=6)", but no selected layer has weights of a rank above 5; use r=1 to r=5' \
    'loss=mse optimizer=sgd update=lora(r=6)'
check refused-empty       refuses 'there is no option of sgd ""' \
    'loss=mse optimizer=sgd(rate=0.1,,momentum=0.9) update=all'
check refused-many        refuses '"accumulate=0"; use a number from 1 to 1048576' \
    'loss=mse optimizer=sgd update=all accumulate=0'
check refused-dropout       refuses '"dropout=0.5"; use dropout=on or dropout=off' \
    'loss=mse optimizer=sgd update=all dropout=0.5'
check refused-target      refuses '"target=classes" of the loss mse' 'loss=mse optimizer=sgd update=all target=classes'
check refused-output      refuses 'there is no output "z"' 'loss=mse optimizer=sgd update=all output=z'
checkpoint_refuses() {
    if "$lw" samples/digits/digits.onnx "$@" -o "$work/no.c" > "$work/said" 2>&1; then echo accepted; return 1; fi
    grep -qF -e "$text" "$work/said" || { cat "$work/said"; return 1; }
}
text='--checkpoint is given without --train; add --train'
check refused-checkpoint-alone checkpoint_refuses --checkpoint auto
text='--checkpoint 100: the step requires an arena of '
check refused-checkpoint-small checkpoint_refuses --checkpoint 100 --train 'loss=cross_entropy optimizer=sgd update=all'
text='--checkpoint does not accept "most"; use auto, or'
check refused-checkpoint-word checkpoint_refuses --checkpoint most --train 'loss=cross_entropy optimizer=sgd update=all'
check refused-logits refuses \
    '"loss=cross_entropy(of=logits)" of an output that softmax computes; use cross_entropy' \
    'loss=cross_entropy(of=logits) optimizer=sgd update=all'
check refused-parentheses refuses '"optimizer=sgd(rate=0.1 update=all"; use words like' \
    'loss=mse optimizer=sgd(rate=0.1 update=all'

# A scale has a gradient where the tensor has dimensions of 1, and a function that two simulated quantizations share has
# a name of C.
simulated() {
    cat > "$work/grids.te" <<'END'
input x: f32[1][4]
input x2: f32[1][4]
input t: f32[1][4]
input s: f32
const z: i8 = [0]
y = annotation.simulated_quantize(x, s, z)
y2 = annotation.simulated_quantize(x2, s, z)
loss = mse(y, t)
d_s = gradient(loss, s)
output y2, y, d_s
END
    "$lw" "$work/grids.te" -o "$work/grids.c" > "$work/said" 2>&1 \
        && "$cc" -std=c99 -Iruntime -c -o "$work/grids.o" "$work/grids.c" > "$work/said" 2>&1 && return
    cat "$work/said"
    return 1
}
check scale-of-a-grid simulated

# samples/personalize, whose limits are in its script; cross runs it on an emulated core.
why=$(missing bash)
[ -f ../shared/models/kws/kws_5speakers.onnx ] || why="no recorded models beside the project"
if [ "$why" ]; then skip personalize "$why"
else check personalize env CC="$cc" samples/personalize/run.sh "$build"; fi

report_end

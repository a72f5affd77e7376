# SPDX-License-Identifier: MIT
# Unit tests: every tests/unit/test_*.c is a program that prints `ok NAME` / `not ok NAME: why` and ends with
# `N passed, N failed`.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/test/%,$(sort $(wildcard tests/unit/test_*.c)))

# The compiler under test has the caller's level of optimization. A test itself is built once and runs briefly, so it is
# built without optimization, except for those that spend their time in formulas of their own.
TEST_CFLAGS = $(patsubst -O2,$(if $(filter %test_math %test_realize %test_tflite_reference,$@),-O1,-O0),$(CFLAGS))
$(BUILD)/test/%: tests/unit/%.c $(LIBRARY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) $(INCLUDE) -Itests/unit $(LDFLAGS) $(DEPENDS) -o $@ $< $(LIBRARY) -lm
-include $(UNIT:=.d)

# The independent formulas of the TFLite operators are several sources.
REFERENCE := $(sort $(wildcard tests/tflite/*.c))
$(BUILD)/test/test_tflite_reference: tests/unit/test_tflite_reference.c $(REFERENCE) tests/tflite/case.h $(LIBRARY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) $(INCLUDE) -Itests/unit $(LDFLAGS) -o $@ $< $(REFERENCE) $(LIBRARY) -lm

# The cases of tests/simd/rows_test.c: calls of the macros of instructions and hashes of their formulas' results.
$(BUILD)/test/rows_cases: tests/simd/rows_cases.c tests/simd/rows_data.h $(LIBRARY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(TEST_CFLAGS) $(INCLUDE) -Itests/simd $(LDFLAGS) -o $@ $< $(LIBRARY) -lm
$(BUILD)/rows/rows_cases.h: $(BUILD)/test/rows_cases
	@mkdir -p $(@D)
	$(Q)$< > $@.tmp && mv $@.tmp $@

.PHONY: unit
unit: $(UNIT)
	@for t in $(UNIT); do echo "== $$t"; $$t || exit 1; done

# tests/run.sh lists the suites. `make test` runs those that take a few minutes, `make check-all` all.
.PHONY: test check-all golden golden-accept bench bench-host bench-int8 bench-matmul bench-qdq bench-sanitizers
test: all $(UNIT) $(BUILD)/rows/rows_cases.h
	@MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" tests/run.sh --test
check-all: all $(UNIT) $(BUILD)/rows/rows_cases.h
	@MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" tests/run.sh --all
golden: all
	@tests/golden.sh $(BUILD)
golden-accept: all
	@tests/golden.sh $(BUILD) --accept

# Proves the emitted C by Frama-C, why3, z3 and cvc4. MODEL=FILE: one model; FLAGS: options of the compiler. FRESH=1:
# also layers that tests/proof/proved.txt has; RECORD=1: writes that file.
.PHONY: proof proof-mutants
proof: all
	@FLAGS="$(FLAGS)" SHOW=1 sh tests/proof.sh $(BUILD) $(MODEL)
# The coverage of the emitted C by its own vectors: make coverage MODEL=FILE FLAGS='--target cortex-m4'
.PHONY: coverage
coverage: all
	@out=$(BUILD)/coverage/$(notdir $(basename $(MODEL))) && \
	  $(BUILD)/loopwright evidence $(MODEL) $(FLAGS) --quiet -o $$out && sh $$out/tools.sh coverage && \
	  $(BUILD)/loopwright evidence $(MODEL) $(FLAGS) --quiet -o $$out && cut -d, -f1-7 $$out/coverage.csv

# A camera's bytes to the scores of visual wake words, in one function and by hand, on COUNT images (default: 1,000).
.PHONY: camera
camera: all
	@sh tests/camera/run.sh $(BUILD) $(COUNT)

# Makes 40 faults in a proved network; the analyser must find each. COUNT=N: the first N.
proof-mutants: all
	@sh tests/proof/mutants.sh $(BUILD) $(COUNT)

# The compiler on further hosts, beside those of check-all.
.PHONY: hosts
hosts: all
	@for host in ppc64 mips x87; do \
	  echo "== $$host"; MAKE="$(MAKE)" BUILD="$(BUILD)" CC="$(CC)" HOST=$$host tests/run.sh hosts || exit 1; done

# Renews the outputs in README.md and docs/ (tests/tools/docs.sh); tests/run.sh docs compares.
.PHONY: docs
docs: all
	@for page in README.md docs/*.md; do \
	  tests/tools/docs.sh $(BUILD) $$page > $(BUILD)/page.md && cp $(BUILD)/page.md $$page || exit 1; done

# Worst cases beside the most instructions that QEMU counts on COUNT (1000) inputs that are made to be worst.
.PHONY: bench-worst
bench-worst: all
	@tests/cross/worst.sh $(BUILD) $(or $(COUNT),1000) $(MODELS)

# Renews the types of the Python package (emitter/python/options.py); tests/run.sh python_package compares.
.PHONY: python-types
python-types: all
	@for words in options steps; do \
	  python3 emitter/python/options.py $$words > $(BUILD)/types.py && \
	  cp $(BUILD)/types.py emitter/python/loopwright/_$$words.py || exit 1; done

# Real Fourier transforms: instructions, memory, error. CPU=cortex-m55, LENGTHS="400 512"
.PHONY: bench-fft
bench-fft: all
	@$(or $(PYTHON),python3) tests/bench/fft.py $(BUILD) $(or $(CPU),cortex-m4) $(LENGTHS)

# Layers that cores share: instructions of the busiest Cortex-M33, threads on this machine. WHERE=host CORES=3 FILES=..
.PHONY: bench-cores
bench-cores: all
	@$(or $(PYTHON),python3) tests/bench/cores.py $(BUILD) $(WHERE) $(FILES)

# The tables of figures. For onnx2c's figures: ONNX2C_DIR=folder with its NAME.c, or ONNX2C=its program.
bench: all
	@tests/bench/all.sh $(BUILD)
# The int8 models alone: instructions, memory, and estimated cycles if the estimator is beside the project.
# FLAGS=--check compares them with the recorded limits.
bench-int8: all
	@python3 tests/bench/int8.py $(BUILD) $(FLAGS)
# Layers with weights of 4 and 2 bits beside 8 bits, on emulated cores. FLAGS: names of cores, --check.
.PHONY: bench-int4
bench-int4: all
	@$(or $(PYTHON),python3) tests/bench/int4.py $(BUILD) $(FLAGS)
# Networks on this machine beside ONNX Runtime and XNNPACK, interleaved, one thread. MODELS="FILE...": other files;
# PYTHON has numpy, onnxruntime and ai-edge-litert.
bench-host: all
	@$(or $(PYTHON),python3) tests/bench/peers.py $(BUILD) $(MODELS)
# Executed AArch64 instructions under QEMU's user mode beside the recorded ones of ONNX Runtime and LiteRT. FLAGS:
# --clang, --core cortex-a72, names of models.
.PHONY: bench-aarch64
bench-aarch64: all
	@$(or $(PYTHON),python3) tests/bench/aarch64.py $(BUILD) $(FLAGS)
# The compiler's own seconds and megabytes for ResNet-50, MobileNetV2 and long chains, for the recorded networks, and
# for the searches for their least RAM. FLAGS=--check fails above the limits; FLAGS="NAME...": these rows; recorded.
.PHONY: bench-compiler
bench-compiler: all
	@python3 tests/bench/compiler.py $(BUILD) $(FLAGS)
# The default schedules beside all candidates of `loopwright tune`, measured on the emulated core CPU, layer by layer.
# FLAGS=--check fails where one is more than 5 percent faster. MODELS="NAME...".
.PHONY: bench-tune
bench-tune: all
	@python3 tests/bench/tune.py $(BUILD) $(or $(CPU),cortex-m4) $(FLAGS) $(MODELS)
# Instructions per multiply-add on the processors that qemu's user mode emulates.
.PHONY: bench-emulated
bench-emulated: all
	@sh tests/bench/emulated.sh $(BUILD)
# Random forests beside emlearn and m2cgen on an emulated Cortex-M0+ and M4. PYTHON has numpy, scikit-learn, skl2onnx,
# emlearn and m2cgen.
.PHONY: bench-trees
bench-trees: all
	@$(or $(PYTHON),python3) tests/bench/trees.py $(BUILD)
# Predicted beside counted instructions, every group alone, on the emulated core CPU (cortex-m4; rv32imc,rv64gc and
# the like). MODELS="NAME...".
.PHONY: bench-cost
bench-cost: all
	@python3 tests/bench/cost.py $(BUILD) $(or $(CPU),cortex-m4) $(MODELS)
# Writes the costs of a core, fitted on the instructions of made networks: CORE=cortex-m4 [OUT=FILE]. PYTHON has numpy.
$(BUILD)/bench/cost_rows: tests/bench/cost_rows.c $(LIBRARY)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) $(LDFLAGS) -o $@ $< $(LIBRARY) -lm
.PHONY: calibrate
calibrate: all $(BUILD)/bench/cost_rows
	@$(or $(PYTHON),python3) tests/bench/calibrate.py $(BUILD) "$(CORE)" \
	  $(or $(OUT),schedules/arm/costs_$(subst cortex-,,$(CORE)).def)
# The totals of `report` beside the linked firmware on emulated Cortex-M cores, at -O2 and -Os. CPU=core[,core], and
# MODELS="NAME..."; FLAGS=--check fails where a total is not within the bounds of docs/performance.md.
.PHONY: bench-report
bench-report: all
	@python3 tests/bench/report.py $(BUILD) $(or $(CPU),all) $(MODELS) $(FLAGS)
# Weighted traffic of int8 networks with a TCM of 64 KB and of 8 KB, by the loads and stores of compiled code.
# FLAGS=--check fails above the limits; MODELS="NAME...".
.PHONY: bench-memories
bench-memories: all
	@$(or $(PYTHON),python3) tests/bench/memories.py $(BUILD) $(FLAGS) $(MODELS)
# --combine all on COUNT random networks from seed SEED: RAM, instructions and code on the emulated Cortex-M4.
.PHONY: bench-combine
bench-combine: all
	@python3 tests/bench/combine.py $(BUILD) $(or $(COUNT),20) $(SEED)
# Matrix products beside OpenBLAS. PERCENT=70 fails below that share of OpenBLAS's speed.
bench-matmul: all
	@tests/bench/blas.sh $(BUILD) $(PERCENT)

# Seconds that clang takes to build each model with sanitizers; fails above 20. FLAGS="-fno-sanitize-recover=all
# -fno-inline".
bench-sanitizers: all
	@tests/bench/sanitizers.sh $(BUILD) $(FLAGS)

# The digits network trained from random weights, and a step beside JAX's. PYTHON has numpy, onnx, scikit-learn, jax.
.PHONY: bench-train
bench-train: all
	@$(or $(PYTHON),$(wildcard $(BUILD)/venv/bin/python),python3) tests/bench/train_digits.py $(BUILD) $(TARGET)

# Networks quantized by us and by ONNX Runtime: signal to noise (docs/performance.md). PYTHON has numpy and onnxruntime.
.PHONY: bench-quantize
bench-quantize: all
	@$(or $(PYTHON),$(wildcard $(BUILD)/venv/bin/python),python3) tests/bench/quantize.py $(BUILD) $(NAMES)

# Bounds on the outputs (--min-sqnr) of all recorded float networks: held by the emitted C? An hour. PYTHON as above,
# with onnx.
.PHONY: bench-quantize-mixed
bench-quantize-mixed: all
	@$(or $(PYTHON),$(wildcard $(BUILD)/venv/bin/python),python3) tests/bench/quantize_mixed.py $(BUILD) $(NAMES)

# Networks quantized by us and by TensorFlow Lite's converter, on the emulated Cortex-M4. PYTHON has numpy.
.PHONY: bench-quantize-core
bench-quantize-core: all
	@$(or $(PYTHON),$(wildcard $(BUILD)/venv/bin/python),python3) tests/bench/quantize_core.py $(BUILD)

# A quantized network written in real numbers, in floats and in integers; MODEL=file.onnx, with MODEL.in0.npy beside it.
bench-qdq: all
	@tests/bench/qdq.sh $(BUILD) $(MODEL)

# Random schedules: SEED=first COUNT=programs. After every step the nest is interpreted, with checks and by the fast
# interpreter, and compared with the plain evaluator. A failure prints its seed; COUNT=1 shows that program's steps.
# The runs of each path of the fast interpreter are counted; from 4,000 programs on, one that never ran is a failure.
# Then the same programs are emitted, built and compared, some hundred in a file; with SANITIZE=1, by AddressSanitizer
# and UBSan. KIND=copies: most steps copy tensors to small memories, beside the work; they run in three orders of
# copies, and the C with both sanitizers.
SANITIZED_C := -std=c99 -O1 -ffp-contract=off -fsanitize=address,undefined -fno-sanitize-recover=all
.PHONY: fuzz-schedules
fuzz-schedules: $(BUILD)/test/test_random_schedules $(BUILD)/test/test_random_emission
	@$(BUILD)/test/test_random_schedules $(or $(SEED),1) $(or $(COUNT),20000) $(KIND)
	@$(if $(SANITIZE)$(filter copies,$(KIND)),EMIT_FLAGS="$(SANITIZED_C)") \
	  $(BUILD)/test/test_random_emission $(or $(SEED),1) $(or $(COUNT),20000) $(KIND)

# Breaks each path of the fast interpreter on purpose; its tests have to object. NAMES="sums chunks" selects.
.PHONY: break-paths
break-paths: all
	@CC="$(CC)" tests/tools/break_paths.py $(BUILD) $(NAMES)

# Random tests with large counts: an hour in total, or one of them alone.
SOAKS := $(addprefix soak-,damaged gradient hostile quantize realize schedules shrink simplify tflite)
.PHONY: soak $(SOAKS)
soak: $(SOAKS)
soak-gradient: $(BUILD)/test/test_gradient
	$< $(or $(COUNT),250)
# Random networks with random stops and checkpoints, with sanitizers, in a build of its own.
.PHONY: soak-networks
soak-networks:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/sanitized \
	  CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all" $(BUILD)/sanitized/test/test_gradient
	$(BUILD)/sanitized/test/test_gradient networks $(or $(COUNT),5000) $(SEED)
soak-hostile: $(BUILD)/test/test_hostile
	$< --every
soak-realize: $(BUILD)/test/test_realize
	$< $(or $(COUNT),3000)
soak-quantize: $(BUILD)/test/test_quantize_layers
	$< $(or $(COUNT),10000) $(SEED)
soak-schedules: fuzz-schedules
# Lossless shrinking of random networks: small ones with every range checked, then NETS long ones from seed SEED (by
# default a new one), by an oracle of plain loops. Then the recorded networks.
soak-shrink: shrink $(BUILD)/test/test_shrink $(BUILD)/test/test_shrink_networks
	@$(BUILD)/test/test_shrink $(or $(COUNT),3000)
	@$(BUILD)/test/test_shrink_networks $(or $(NETS),500) $(or $(SEED),$$(date +%s))
soak-simplify: $(BUILD)/test/test_simplify
	$< $(or $(COUNT),30000)
soak-tflite: $(BUILD)/test/test_tflite_reference
	$< $(or $(COUNT),10000)
# Random models of the operators that have no reference in tests/tflite/*.c, from the reference kernels themselves:
# needs the packages tflite-micro and ai-edge-litert. OPERATORS="NAME..." as in tests/tflite/vectors.py.
RECURRENT := unidirectional_sequence_lstm unidirectional_sequence_lstm_fixed unidirectional_sequence_lstm_hybrid lstm \
    bidirectional_sequence_lstm bidirectional_sequence_lstm_hybrid bidirectional_sequence_rnn \
    bidirectional_sequence_rnn_hybrid rnn rnn_relu rnn_hybrid svdf svdf_int8 svdf_int16 svdf_hybrid rfft2d
SOAKED = $(or $(OPERATORS),$(RECURRENT) circular_buffer detection_post_process detection_post_process_uint8 \
    l2_normalization_uint8 concatenation_rescaled_uint8 average_pool_2d_uint8 \
    resize_bilinear_uint8 $(filter %_int16,$(patsubst tests/tflite/%.vec,%,$(wildcard tests/tflite/*.vec))) \
    $(patsubst tests/tflite/%.vec,%,$(wildcard tests/tflite/signal_*.vec)))
.PHONY: soak-vectors
soak-vectors: $(BUILD)/test/test_tflite_ops
	@mkdir -p $(BUILD)/vectors && $(or $(PYTHON),python3) tests/tflite/vectors.py --cases $(or $(COUNT),1000) \
	  --into $(BUILD)/vectors $(SOAKED)
	@$< $(BUILD)/vectors $(SOAKED) | grep -v '^ok'

# Random memories (tests/soak/memories.py): COUNT sets for each recorded model, or for MODELS. Random options beside the
# linked firmware (tests/soak/fit.py): COUNT combinations. SEED=N; SECONDS=N stops; FLAGS="--at N" repeats one.
.PHONY: soak-memories soak-fit
SMALL_MODELS := samples/digits/digits.onnx $(wildcard tests/models/*.onnx tests/models/*.tflite tests/golden/*/*.te)
RECORDED_MODELS := $(wildcard ../shared/models/*/*.tflite ../shared/models/*/*.onnx)
soak-memories: all
	@$(or $(PYTHON),python3) tests/soak/memories.py $(BUILD) --sets $(or $(COUNT),50) --seed $(or $(SEED),1) \
	  --seconds $(or $(SECONDS),0) $(FLAGS) $(or $(MODELS),$(SMALL_MODELS) $(RECORDED_MODELS))
soak-fit: all
	@$(or $(PYTHON),python3) tests/soak/fit.py $(BUILD) --count $(or $(COUNT),100) --seed $(or $(SEED),1) \
	  --seconds $(or $(SECONDS),0) $(FLAGS) $(or $(MODELS),$(SMALL_MODELS))

# Random models beside ONNX Runtime and TensorFlow Lite Micro (tests/soak/soak.py): COUNT of each kind, or
# COUNT=graphs,operators,lite,sizes, from SEED, two crossings each, FLAGS=--all all of them; SECONDS=N stops. The
# compiler has sanitizers, in a build of its own. PYTHON has numpy, onnx, onnxruntime; for TFLite ai-edge-litert and
# tflite-micro.
# Then PROGRAMS random programs show how often each path of the fast interpreter ran; with 4000 or more, each has to.
SOAK := $(BUILD)/soak
SOAK_CC ?= $(if $(shell command -v clang 2> /dev/null),clang,$(CC))
SOAK_CFLAGS := -O1 -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
.PHONY: soak-random soak-worker
soak-random: soak-worker $(BUILD)/test/test_random_schedules
	@status=0; $(or $(PYTHON),$(wildcard $(BUILD)/venv/bin/python),python3) tests/soak/soak.py $(SOAK) \
	  --seed $(or $(SEED),1) --count $(or $(COUNT),1000) --seconds $(or $(SECONDS),0) $(FLAGS) || status=1; \
	[ "$(PROGRAMS)" = 0 ] || $(BUILD)/test/test_random_schedules $(or $(SEED),1) $(or $(PROGRAMS),4000) || status=1; \
	exit $$status
# docs/special-values.md: each operator of ONNX with NaN, infinities, zeros, ties, and without elements.
.PHONY: special-values
special-values:
	@$(MAKE) --no-print-directory soak-random SEED=33 COUNT=round PROGRAMS=0 \
	  FLAGS="--kinds operators --crossings 1 --table docs/special-values.md $(FLAGS)"
soak-worker:
	@$(MAKE) --no-print-directory BUILD=$(SOAK) CC="$(SOAK_CC)" CFLAGS="$(SOAK_CFLAGS)" $(SOAK)/soak-worker
$(BUILD)/soak-worker: tests/soak/worker.c tests/fuzz/fresh.c tests/fuzz/fresh.h \
    $(filter-out emitter/main.c,$(CLIENT)) emitter/main.c $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) -D_POSIX_C_SOURCE=200809L -D_XOPEN_SOURCE=700 $(INCLUDE) -o $@ tests/soak/worker.c \
	  tests/fuzz/fresh.c $(filter-out emitter/main.c,$(CLIENT)) $(LIBRARY) -lm

# TFLite files beside TensorFlow Lite Micro's interpreter, ten inputs in a row: on this machine, and on an emulated
# Cortex-M4 and M55. FILES="FILE.tflite..."; FLAGS="--cores host --steps 100"; PYTHON has numpy and tflite-micro.
.PHONY: compare-micro
compare-micro: all
	@$(or $(PYTHON),python3) tests/tools/micro.py $(BUILD) $(FILES) $(FLAGS)

# Damaged copies of one recorded model of each operator of TFLite with state, subgraphs, signals, codes or UINT8, and of
# the models of ai.onnx.ml: 200 truncations and 2,000 flips of each. With sanitizers: as for `hostile` below.
DAMAGED := _uint8|lstm|rnn|svdf|while|if-|variables|signal_|rfft|^[^ ]*/(circular|decode|densify|detection)
soak-damaged: $(BUILD)/test/test_hostile
	@mkdir -p $(BUILD)/damaged && python3 tests/fuzz/seeds.py tflite $(BUILD)/damaged
	@$< $(wildcard tests/models/ml_*.onnx) $$(ls $(BUILD)/damaged/*-0.tflite | grep -E '$(DAMAGED)')

# Lossless shrinking: the recorded int8 networks with and without it, on COUNT inputs each.
.PHONY: shrink
shrink: all
	@tests/shrink.sh $(BUILD) $(or $(COUNT),10000)

# Damaged copies of every recorded model beside the project, and a table: half an hour. test_hostile alone uses small
# models of the project. With sanitizers: make hostile BUILD=build/hostile CFLAGS="-O1 -g -fsanitize=address,undefined".
.PHONY: hostile
hostile: $(BUILD)/test/test_hostile
	@$(BUILD)/test/test_hostile \
	  $(or $(MODELS),$(wildcard ../shared/models/onnx/*.onnx ../shared/models/mlperf-tiny/*.tflite))

# Hostile files, by libFuzzer, with sanitizers: `make fuzz-onnx SECONDS=60`, or RUNS=1000000; likewise fuzz-tflite,
# fuzz-npy, fuzz-npz and fuzz-te.
#   - The importer reads every input; one in WHOLE (64) is compiled to C, for the targets in rotation.
#   - The first corpus is that of tests/fuzz and small models of other tests (seeds.py). New inputs are added to
#     $(BUILD)/fuzz/corpus-NAME.
#   - An input that crashes, or takes more than 10 seconds or 1 GB, is saved in $(BUILD)/fuzz; the run continues
#     (tests/fuzz/run.sh). FUZZ_FLAGS are options of libFuzzer.
#   - Comparisons are not traced: the mutators produce valid structure for most inputs, and tracing doubles the time.
FUZZ := $(BUILD)/fuzz
FUZZ_CC ?= clang
FUZZ_CFLAGS := -g1 -O2 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=all
FUZZ_COVER := -fsanitize-coverage=inline-8bit-counters,pc-table
.PHONY: fuzz-onnx fuzz-tflite fuzz-npy fuzz-npz fuzz-te fuzz-programs
fuzz-onnx fuzz-tflite fuzz-npy fuzz-npz fuzz-te: fuzz-%: fuzz-programs
	@mkdir -p $(FUZZ)/corpus-$*
	@cp tests/fuzz/corpus-$*/* $(wildcard tests/golden/*/*.$* samples/matmul/*.$*) $(FUZZ)/corpus-$*
	@python3 tests/fuzz/seeds.py $* $(FUZZ)/corpus-$* $(or $(ONNX_DATA),/usr/share/libonnx-testdata/data) || \
	  echo "no python3: fewer seeds"
	@FUZZ_WHOLE=$(WHOLE) tests/fuzz/run.sh $(FUZZ) $* $(if $(RUNS),runs $(RUNS),seconds $(or $(SECONDS),60)) $(FUZZ_FLAGS)
fuzz-programs: all
	@$(MAKE) --no-print-directory BUILD=$(FUZZ) CC=$(FUZZ_CC) CFLAGS="$(FUZZ_CFLAGS) $(FUZZ_COVER)" $(FUZZ:%=%/internal.a)
	@for name in onnx tflite npy npz te; do \
	  $(FUZZ_CC) $(FUZZ_CFLAGS) -std=c99 -fsanitize=fuzzer -fno-sanitize-coverage=trace-cmp $(INCLUDE) -Itests/fuzz \
	    -o $(FUZZ)/fuzz_$$name tests/fuzz/fuzz_$$name.c tests/fuzz/whole.c tests/fuzz/fresh.c \
	    tests/fuzz/proto_mutate.c tests/fuzz/flat_mutate.c $(FUZZ)/internal.a -lm || exit 1; done
	@$(PROGRAM) ops --onnx | sed 1d | tr -s ' ' '\n' | awk '/^[A-Za-z_]+$$/ && !seen[$$1]++ { print "\"" $$1 "\"" }' \
	  > $(FUZZ)/onnx.dict
	@$(PROGRAM) ops | awk '$$1 ~ /^[a-z0-9_]+$$/ && !seen[$$1]++ { print "\"" $$1 "\"" }' > $(FUZZ)/te.dict
	@for word in "'descr'" "'fortran_order'" "'shape'" False True; do echo "\"$$word\""; done > $(FUZZ)/npy.dict
	@echo '"TFL3"' > $(FUZZ)/tflite.dict
	@printf '%s\n' '"PK\x01\x02"' '"PK\x03\x04"' '"PK\x05\x06"' > $(FUZZ)/npz.dict

# The ONNX backend suite, ONNX_DATA=its data folder (Debian: libonnx-testdata puts it at
# /usr/share/libonnx-testdata/data). Writes SUPPORT.md. Fails if a case of tests/conformance.txt no longer passes;
# ACCEPT=--accept rewrites that list.
.PHONY: conformance
conformance: all
	@build=$(BUILD) && . tests/python.sh && python=$$(python_with numpy onnx) || \
	  { echo "no Python has numpy and onnx; to get one: $$python_hint" >&2; exit 1; }; \
	  $$python tests/conformance.py $(BUILD) $(or $(ONNX_DATA),/usr/share/libonnx-testdata/data) \
	    --support docs/SUPPORT.md $(ACCEPT)

# Disables one check at a time and searches for a program that requires it (tests/fuzz/switch.c), in a separate build.
.PHONY: fuzz-checks
fuzz-checks:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/switch CFLAGS="$(CFLAGS) -DLW_TEST_SWITCH" \
	  $(BUILD)/switch/internal.a > /dev/null
	@$(CC) $(CFLAGS) -DLW_TEST_SWITCH $(INCLUDE) -Itests/fuzz -o $(BUILD)/fuzz_switch tests/fuzz/switch.c \
	  $(BUILD)/switch/internal.a -lm
	@$(BUILD)/fuzz_switch $(or $(COUNT),80000) $(BUILD)/counterexamples.txt emitter/schedule/draft/*.c \
	  emitter/schedule/primitives/*.c emitter/ir/check/*.c

# The pictures of docs/quantizing-tutorial.md; requires chromium.
.PHONY: tutorial-pictures
tutorial-pictures: all
	@sh tests/tools/pictures.sh $(BUILD)

# The bytes of everything that is emitted, by the commit BASE and here: make same-bytes BASE=main [SET=quick|plain].
.PHONY: same-bytes count-lines
same-bytes: all
	@BUILD="$(BUILD)" sh tests/tools/same_bytes.sh "$(BASE)" $(SET)
# The lines of the sources that are not blank: make count-lines [AT=COMMIT].
count-lines:
	@sh tests/tools/count_lines.sh $(AT)

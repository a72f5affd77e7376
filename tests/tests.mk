# SPDX-License-Identifier: MIT
# Unit tests: every tests/unit/test_*.c is a program that prints `ok NAME` / `not ok NAME: why` and ends with
# `N passed, N failed`.
UNIT := $(patsubst tests/unit/%.c,$(BUILD)/test/%,$(sort $(wildcard tests/unit/test_*.c)))

$(BUILD)/test/%: tests/unit/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(INCLUDE) -Itests/unit $(LDFLAGS) -MMD -MP -o $@ $< $(LIBRARY) -lm
-include $(UNIT:=.d)

.PHONY: unit
unit: $(UNIT)
	@for t in $(UNIT); do echo "== $$t"; $$t || exit 1; done

# Everything: tests/run.sh gathers the suites and sums them up; --all fails where something is skipped.
.PHONY: test check-all golden golden-accept bench
test: all $(UNIT)
	@MAKE="$(MAKE)" tests/run.sh $(BUILD)
check-all: all $(UNIT)
	@MAKE="$(MAKE)" tests/run.sh $(BUILD) --all
golden: all
	@tests/golden.sh $(BUILD)
golden-accept: all
	@tests/golden.sh $(BUILD) --accept

# The parts of README.md that follow from the program, anew; a test compares.
.PHONY: readme
readme: all
	@tests/tools/readme.sh $(BUILD) > $(BUILD)/README.md && cp $(BUILD)/README.md README.md

# The tables of figures. ONNX2C_DIR=folder of NAME.c made by onnx2c, or ONNX2C=its program, to be measured against.
bench: all
	@tests/bench/all.sh $(BUILD)

# Random schedules: SEED=first COUNT=programs. After every step the nest is interpreted and compared with the plain
# evaluator (a failure prints its seed; COUNT=1 shows that program step by step); then the same programs are emitted, built
# and compared, some hundred in a file.
.PHONY: fuzz-schedules
fuzz-schedules: $(BUILD)/test/test_random_schedules $(BUILD)/test/test_random_emission
	@$(BUILD)/test/test_random_schedules $(or $(SEED),1) $(or $(COUNT),20000)
	@$(BUILD)/test/test_random_emission $(or $(SEED),1) $(or $(COUNT),20000)

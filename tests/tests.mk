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

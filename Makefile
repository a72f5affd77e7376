# SPDX-License-Identifier: MIT
# Nothing to configure: sources are found by folder; everything is built in $(BUILD).
#   make            the compiler; V=1 shows commands     make test        the tests that take minutes
#   make library    build/libloopwright.a; make shared: build/libloopwright.so; make wheel: the Python package
#   make playground the compiler in a browser: build/playground.html
#   make demo       handwritten digits, end to end       make check-all   all tests, failing where something is skipped
#   tests/run.sh SUITE [CASE]  one suite or case         make soak        random tests with great counts, for hours
#   make golden     compare emitted text with tests/golden; golden-accept rewrites it after review
#   make bench      the tables of figures                make bench-matmul   products beside OpenBLAS
#   make bench-int8 int8 beside CMSIS-NN: instructions, cycles, memory   make bench-host   beside ONNX Runtime, XNNPACK
#   make bench-int4 layers with weights of 4 and 2 bits
#   make bench-compiler  the compiler's own time and memory for large networks
#   make fuzz-schedules SEED=1 COUNT=20000
#   make fuzz-onnx  hostile files, by libFuzzer          make hostile    damaged copies of the recorded models
#   make shrink     lossless shrinking, on 10,000 inputs
#   make hosts      the compiler built on ppc64, mips and with the x87
#   make site       the pages as a site with a search: build/site/html/index.html
#   make docs       the outputs in README.md and docs/  make conformance ONNX_DATA=DIR   the ONNX backend suite
CC      ?= cc
CFLAGS  ?= -O2
BUILD   ?= build
PREFIX  ?= /usr/local
OBJCOPY ?= objcopy
WARN    := -std=c99 -pedantic -Wall -Wextra -Wshadow -Wconversion
override CFLAGS += $(WARN) -ffp-contract=off -fno-strict-aliasing
# Lists of the headers that a source reads; tcc spells the option so
DEPENDS := $(if $(filter tcc%,$(notdir $(firstword $(CC)))),-MD,-MMD -MP)
# Floats are computed in the width of their type, as runtime/lw_ieee.h requires; by FLT_EVAL_METHOD: x87, s390x.
WIDTH := $(shell echo __FLT_EVAL_METHOD__ | $(CC) $(CFLAGS) -E -P -x c - 2> /dev/null | tail -n 1)
FLOATS := $(if $(filter 2 -1,$(WIDTH)),-msse2 -mfpmath=sse,$(if $(filter 1,$(WIDTH)),-fexcess-precision=fast))
override CFLAGS += $(FLOATS)
INCLUDE := -Iemitter -I$(BUILD)/gen -I.

# Prints one line per file: $(call say,VERB,FILE) before a command that begins with $(Q).
Q   := $(if $(filter-out 0,$(V)),,@)
say = $(if $(Q),@echo "$(1) $(2)")

# files(ROOT...): the C sources below these folders, at any depth. Templates of packages are texts.
TEMPLATES := emitter/api/package/templates
PAGE      := emitter/api/report/template
PRINTED   := emitter/cgen/template
PLAY      := emitter/playground
files     = $(sort $(shell find -L $(1) -path $(TEMPLATES) -prune -o -name '*.c' -print))
CLIENT    := emitter/main.c $(call files,emitter/command)
SOURCES   := $(filter-out $(CLIENT) $(call files,$(PLAY)),$(call files,emitter ops schedules))
OBJECTS   := $(SOURCES:%.c=$(BUILD)/obj/%.o)
LIBRARY   := $(BUILD)/internal.a
PUBLIC    := $(BUILD)/libloopwright.a
PROGRAM   := $(BUILD)/loopwright

.PHONY: all
all: $(PROGRAM)

$(PROGRAM): $(CLIENT:%.c=$(BUILD)/obj/%.o) $(LIBRARY)
	$(call say,LD,$@)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -lm

$(LIBRARY): $(OBJECTS) $(BUILD)/gen/sources.txt
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(OBJECTS)

# The public library: one object in which only names that begin with lw_ are visible.
.PHONY: library
library: $(PUBLIC)
$(PUBLIC): $(OBJECTS) $(BUILD)/gen/sources.txt
	$(call say,AR,$@)
	$(Q)$(LD) -r -o $(BUILD)/loopwright.o $(OBJECTS)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='lw_*' $(BUILD)/loopwright.o
	@rm -f $@
	$(Q)$(AR) rcs $@ $(BUILD)/loopwright.o

# The same names as a shared library, for other languages: its objects are position-independent.
SHARED := $(BUILD)/libloopwright.so
SHARED_OBJECTS := $(SOURCES:%.c=$(BUILD)/pic/%.o)
.PHONY: shared
shared: $(SHARED)
$(SHARED): $(SHARED_OBJECTS) $(BUILD)/gen/sources.txt
	$(call say,LD,$@)
	$(Q)$(LD) -r -o $(BUILD)/loopwright-shared.o $(SHARED_OBJECTS)
	$(Q)$(OBJCOPY) --wildcard --keep-global-symbol='lw_*' $(BUILD)/loopwright-shared.o
	$(Q)$(CC) $(LDFLAGS) -shared -o $@ $(BUILD)/loopwright-shared.o -lm

# The compiler in a browser: one page that loads nothing (docs/playground.md). It requires clang, lld, wasi-libc and xz.
# A second make builds the program's objects for WebAssembly; -w: the warnings are those of the other build.
WASM := $(BUILD)/wasm
WASM_CC ?= clang-16 --target=wasm32-wasi
WASM_CFLAGS := -Oz -w -I$(PLAY) -mbulk-memory -mllvm -enable-emscripten-sjlj -D_WASI_EMULATED_PROCESS_CLOCKS \
  -D_WASI_EMULATED_SIGNAL
WASM_LIBS := -lwasi-emulated-process-clocks -lwasi-emulated-signal -lm \
  -Wl,--allow-undefined,--import-memory,--initial-memory=8388608,--max-memory=4294967296,--export-table \
  -Wl,--export=__stack_pointer,--gc-sections,--strip-all,--stack-first,-z,stack-size=4194304
PLAYED := $(OBJECTS) $(CLIENT:%.c=$(BUILD)/obj/%.o) $(BUILD)/obj/$(PLAY)/host.o
.PHONY: playground
playground: $(BUILD)/playground.html
$(BUILD)/playground.html: $(WASM)/program.wasm $(sort $(wildcard $(PLAY)/*)) $(PAGE)/page.css $(PAGE)/words.js
	$(call say,JOIN,$@)
	$(Q)sh $(PLAY)/join.sh $< > $@.new && mv $@.new $@
$(WASM)/program.wasm: FORCE
	$(Q)$(MAKE) --no-print-directory BUILD=$(WASM) CC="$(WASM_CC)" CFLAGS="$(WASM_CFLAGS)" $@
$(BUILD)/program.wasm: $(PLAYED) $(BUILD)/gen/sources.txt
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $(PLAYED) $(WASM_LIBS)

# The pages as a site with a search (docs/site: the sources for mkdocs, the theme, and the check for dead links).
.PHONY: site
site:
	@if command -v mkdocs > /dev/null; then \
	  export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=docs/site && python3 docs/site/pages.py . $(BUILD) && \
	  mkdocs build --strict --quiet --config-file $(BUILD)/site/mkdocs.yml && \
	  python3 docs/site/finish.py $(BUILD)/site/html; \
	else echo "skip site: mkdocs is not installed"; fi

# The package for Python, and a wheel of it with the shared library inside (emitter/python/wheel.py: no package needed).
.PHONY: wheel
wheel: $(SHARED) $(GENERATED)
	$(Q)$(or $(PYTHON),python3) emitter/python/wheel.py $(BUILD)

# The lists of built-in rows follow from the file names: ops/layers/conv.c defines `const Op ops_conv[]`, and so on.
# Folders have any depth. A table is named after its file; a table of schedules also after the first folder, so
# schedules/arm/rows/conv.c defines implementations_arm_conv. Files directly in schedules/ define no table.
OPS_FILES := $(filter ops/%,$(SOURCES))
SCHEDULE_FILES := $(filter-out %/target.c %/device.c %/costs.c %/instructions.c,$(foreach f,$(SOURCES), \
  $(if $(findstring /,$(f:schedules/%=%)),$(filter schedules/%,$f))))
TARGET_FILES := $(filter schedules/%/target.c,$(SOURCES))
DEVICE_FILES := $(filter schedules/%/device.c,$(SOURCES))
INSTRUCTION_FILES := $(filter schedules/%/instructions.c,$(SOURCES))
RUNTIME_FILES := $(sort $(wildcard runtime/*.h runtime/simd/*.h))
PACKAGE_FILES := $(sort $(shell find $(TEMPLATES) -type f))
PAGE_FILES := $(sort $(wildcard $(PAGE)/*))
PRINTED_FILES := $(sort $(wildcard $(PRINTED)/*))
GENERATED := $(BUILD)/gen/builtin.h $(BUILD)/gen/runtime_text.h $(BUILD)/gen/package_text.h \
  $(BUILD)/gen/page_text.h $(BUILD)/gen/template_text.h

# Lists of file names. Archives and files that are generated from names depend on a list: a file that vanishes renews
# them, as a new one does.
$(BUILD)/gen/sources.txt: NAMES = $(SOURCES)
$(BUILD)/gen/headers.txt: NAMES = $(RUNTIME_FILES)
$(BUILD)/gen/packages.txt: NAMES = $(PACKAGE_FILES)
$(BUILD)/gen/page.txt: NAMES = $(PAGE_FILES)
$(BUILD)/gen/template.txt: NAMES = $(PRINTED_FILES)
$(BUILD)/gen/sources.txt $(BUILD)/gen/headers.txt $(BUILD)/gen/packages.txt $(BUILD)/gen/page.txt \
  $(BUILD)/gen/template.txt: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' $(NAMES) > $@.new
	@cmp -s $@.new $@ && rm $@.new || mv $@.new $@
.PHONY: FORCE
FORCE:

# Files as lines of text: $(call as_lines,WORD,FOLDER,FILES). The runtime headers, for --standalone; the templates of
# `loopwright package`; the parts of the page that `loopwright report` writes; what cgen prints with few changes.
as_lines = for f in $(3); do \
	  echo "$(1)_FILE(\"$${f\#$(2)/}\")"; \
	  sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/$(1)_LINE("&")/' $$f; done
# What lw_math_float.h and lw_math_double.h share is filled in with the type's words, which lw_math_basics.h explains:
# $(call in_type,TYPE,ITS BITS,SUFFIX,THE PICKED ONE OF TWO)
SHARED_MATH := runtime/lw_math_basics.h runtime/lw_math_functions.h
TYPED_MATH := $(BUILD)/gen/typed/lw_math_float.h $(BUILD)/gen/typed/lw_math_double.h
in_type = -e 's/LW_PICK(\([^,]*\), \([^)]*\))/\$(4)/g' -e 's/LW_NUM(\([^)]*\))/\1$(3)/g' \
  -e 's/LW_FN(\([^)]*\))/lw_\1$(3)/g' -e 's/LW_REAL/$(1)/g' -e 's/LW_BITS/uint$(2)_t/g' \
  -e 's/LW_TO_BITS/lw_f$(2)_bits/g' -e 's/LW_FROM_BITS/lw_f$(2)_from_bits/g'
$(BUILD)/gen/typed/lw_math_float.h: WORDS = $(call in_type,float,32,f,1)
$(BUILD)/gen/typed/lw_math_double.h: WORDS = $(call in_type,double,64,,2)
$(TYPED_MATH): $(BUILD)/gen/typed/%: runtime/% $(SHARED_MATH) Makefile
	@mkdir -p $(@D)
	@sed $(foreach f,$(SHARED_MATH),-e '/^.include "$(notdir $f)"/r $f') $< | sed $(WORDS) > $@
PLAIN_RUNTIME := $(filter-out $(SHARED_MATH) $(TYPED_MATH:$(BUILD)/gen/typed/%=runtime/%),$(RUNTIME_FILES))
$(BUILD)/gen/runtime_text.h: Makefile $(BUILD)/gen/headers.txt $(PLAIN_RUNTIME) $(TYPED_MATH)
	@{ $(call as_lines,RUNTIME,runtime,$(PLAIN_RUNTIME)); \
	  $(call as_lines,RUNTIME,$(BUILD)/gen/typed,$(TYPED_MATH)); } > $@
$(BUILD)/gen/package_text.h: Makefile $(BUILD)/gen/packages.txt $(PACKAGE_FILES)
	@$(call as_lines,PACKAGE,$(TEMPLATES),$(PACKAGE_FILES)) > $@
$(BUILD)/gen/page_text.h: Makefile $(BUILD)/gen/page.txt $(PAGE_FILES)
	@$(call as_lines,PAGE,$(PAGE),$(PAGE_FILES)) > $@
$(BUILD)/gen/template_text.h: Makefile $(BUILD)/gen/template.txt $(PRINTED_FILES)
	@$(call as_lines,TEMPLATE,$(PRINTED),$(PRINTED_FILES)) > $@

# Rows of the table are words of make; '...' keeps their parentheses from the shell.
folder_of = $(firstword $(subst /, ,$(1:schedules/%=%)))
table_of = implementations_$(call folder_of,$1)_$(basename $(notdir $1))
BUILTIN := $(foreach f,$(OPS_FILES),'BUILTIN_OPS(ops_$(basename $(notdir $f)))') \
  $(foreach f,$(SCHEDULE_FILES),'BUILTIN_IMPLEMENTATIONS($(call table_of,$f))') \
  $(foreach f,$(TARGET_FILES),'BUILTIN_TARGETS(targets_$(notdir $(f:/target.c=)))') \
  $(foreach f,$(DEVICE_FILES),'BUILTIN_DEVICES(devices_$(notdir $(f:/device.c=)))') \
  $(foreach f,$(INSTRUCTION_FILES),'BUILTIN_INSTRUCTIONS(instructions_$(notdir $(f:/instructions.c=)))')
$(BUILD)/gen/builtin.h: Makefile $(BUILD)/gen/sources.txt
	@printf '%s\n' '/* Generated from the file names in ops/ and schedules/. */' $(BUILTIN) > $@

# Generated headers must exist before the first compilation; afterwards the .d files list their users.
$(BUILD)/obj/%.o: %.c | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) $(INCLUDE) $(DEPENDS) -c -o $@ $<

$(BUILD)/pic/%.o: %.c | $(GENERATED)
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(CFLAGS) -fPIC $(INCLUDE) $(DEPENDS) -c -o $@ $<

-include $(OBJECTS:.o=.d) $(SHARED_OBJECTS:.o=.d) $(CLIENT:%.c=$(BUILD)/obj/%.d) $(BUILD)/obj/$(PLAY)/host.d

.PHONY: demo
demo: $(PROGRAM)
	@mkdir -p $(BUILD)/digits
	$(PROGRAM) samples/digits/digits.onnx -o $(BUILD)/digits/digits.c --name digits
	$(CC) -std=c99 -O2 $(FLOATS) -I$(BUILD)/digits -Iruntime -o $(BUILD)/digits/demo samples/digits/main.c \
	  $(BUILD)/digits/digits.c -lm
	$(BUILD)/digits/demo

VERSION = $(shell sed -n 's/^.define LW_VERSION "\(.*\)"/\1/p' emitter/loopwright.h)
.PHONY: install clean
install: $(PROGRAM) $(PUBLIC)
	mkdir -p $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/lib $(DESTDIR)$(PREFIX)/include \
	  $(DESTDIR)$(PREFIX)/share/loopwright/runtime/simd
	cp $(PROGRAM) $(DESTDIR)$(PREFIX)/bin/
	cp $(PUBLIC) $(DESTDIR)$(PREFIX)/lib/
	cp emitter/loopwright.h $(DESTDIR)$(PREFIX)/include/
	cp runtime/*.h runtime/LICENSE $(DESTDIR)$(PREFIX)/share/loopwright/runtime/
	cp runtime/simd/*.h $(DESTDIR)$(PREFIX)/share/loopwright/runtime/simd/
	mkdir -p $(DESTDIR)$(PREFIX)/lib/cmake/Loopwright $(DESTDIR)$(PREFIX)/lib/pkgconfig
	cp runtime/cmake/LoopwrightConfig.cmake $(DESTDIR)$(PREFIX)/lib/cmake/Loopwright/
	printf '%s\n' 'set(PACKAGE_VERSION "$(VERSION)")' 'if(PACKAGE_FIND_VERSION VERSION_LESS_EQUAL PACKAGE_VERSION)' \
	  '    set(PACKAGE_VERSION_COMPATIBLE TRUE)' 'endif()' \
	  > $(DESTDIR)$(PREFIX)/lib/cmake/Loopwright/LoopwrightConfigVersion.cmake
	printf '%s\n' 'prefix=$(PREFIX)' 'runtimedir=$${prefix}/share/loopwright/runtime' '' 'Name: Loopwright' \
	  'Description: Compiler of trained networks to C99' 'Version: $(VERSION)' 'Cflags: -I$${prefix}/include' \
	  'Libs: -L$${prefix}/lib -lloopwright -lm' > $(DESTDIR)$(PREFIX)/lib/pkgconfig/loopwright.pc

clean:
	rm -rf $(BUILD)

include tests/tests.mk

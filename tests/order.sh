#!/bin/sh
# SPDX-License-Identifier: MIT
# order.sh BUILD: no two calls that create nodes are in one argument list, initializer or sum, where C leaves their
# order open (tests/tools/order.py), and such calls are found.
set -u
. "$(dirname "$0")/report.sh"
begin "order.sh BUILD" "$@"
rm -rf "$work"/*

# finds NAME BODY: the script finds two creating calls in a function with this body.
finds() {
    mkdir -p "$work/$1"
    cat > "$work/$1/source.c" << END
int ctx_serial(int *cx) { return ++*cx; }
static int created(int *cx, int x) { return x + ctx_serial(cx); }
#define CREATED(cx) created(cx, 1)
static int add(int *cx, int a, int b) { return *cx + a + b; }
int test(int *cx, int x) { $2 }
END
    python3 tests/tools/order.py "$work/$1" > "$work/$1/found.txt"
    [ $? -eq "${3:-1}" ] && [ "$(grep -c 'is open' "$work/$1/found.txt")" -eq "${3:-1}" ]
}

tool=$(missing python3)
if [ "$tool" ]; then skip creating-calls-are-in-order "$tool"
else
    check creating-calls-are-in-order python3 tests/tools/order.py
    check two-arguments-are-found   finds arguments 'return add(cx, created(cx, 1), created(cx, 2));'
    check nested-arguments-are-found finds nested 'return add(cx, add(cx, x, created(cx, 1)), CREATED(cx));'
    check initializers-are-found    finds initializers 'int in[] = { created(cx, 1), created(cx, 2) }; return in[0];'
    check operators-are-found       finds operators \
        'switch (x) { case 1: return created(cx, 1) + CREATED(cx); } return 0;'
    check choices-are-in-order      finds choices 'return x ? created(cx, 1) : created(cx, x && created(cx, 2));' 0
    check statements-are-in-order   finds statements \
        'int a = created(cx, 1), b = created(cx, 2); return add(cx, created(cx, a), b);' 0
fi
report_end

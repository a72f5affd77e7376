#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""live_bound.py LOOPWRIGHT MODEL... [--limit R] [--io arena]: RAM of the emitted C against the live-set bound.

The bound is computed here, from the text of `loopwright dump MODEL --at dag` alone; nothing of the compiler's own
planner is used. RAM is arena + inputs + outputs, from the emitted header. Precisely:

- Operators run one by one in the order of the dump. A tensor is alive from the operator that makes it to its last
  reader; a tensor that nothing reads, at its own operator alone. While an operator runs, its operands and its results
  are alive together, whole.
- Constants are not counted: they are in flash.
- Views (reshape and the like) and transposes are the same bytes under another name: no memory of their own. The alias
  lives as long as its last name. (A transpose usually does need memory; calling it free makes the bound lower.)
- An elementwise operator with an operand of its result's size that dies there writes over it: one tensor, not two
  (if the result is an output of the model, the operand is in the output's buffer already).
- The caller's buffers: inputs cannot be written and outputs must be whole at the end, so a program with this interface
  holds both from start to end. `held` counts them so: inputs + outputs + the largest sum of the others. `dying` is the
  bare set of live tensors: an input is gone after its last reader, an output is there from its maker on. No program
  whose caller keeps the input can reach `dying` where the peak is elsewhere; it is printed for comparison with
  systems that copy the input into their arena.

--io arena: the model is emitted so; then inputs and outputs have places in the arena, which is all of the RAM, and
`dying` is the bound.
--limit R: as a test: `ok ram-NAME` or `not ok ram-NAME: why` for RAM / bound <= R, and the sum; status 1 if one is
above."""
import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

VIEWS = set("reshape flatten squeeze unsqueeze identity dropout transpose".split())
ELEMENTWISE = set("""
    neg abs sign square reciprocal floor ceil trunc round nearbyint sqrt rsqrt exp exp2 expm1 log log2 log10 log1p erf
    sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid relu silu gelu gelu_tanh softplus softsign
    leaky_relu elu selu celu hard_sigmoid hard_swish mish thresholded_relu clip not bitnot cast
    add sub mul div floor_div mod fmod pow min max prelu where batch_norm equal not_equal less less_equal greater
    greater_equal and or xor bitand bitor bitxor shl shr""".split())
BYTES = {"bool": 1, "i8": 1, "u8": 1, "i16": 2, "u16": 2, "f16": 2, "i32": 4, "u32": 4, "f32": 4, "i64": 8, "u64": 8,
         "f64": 8}
TYPE = re.compile(r"([a-z]+\d*)((?:\[\d*\])+)")
NODE = re.compile(r"(t\d+(?:, t\d+)*) = ([\w.]+)\(([^)]*)\)(.*)")


def bytes_of(text):
    kind, dims = TYPE.fullmatch(text).groups()
    size = BYTES[kind]
    for dim in re.findall(r"\[(\d+)\]", dims):
        size *= int(dim)
    return size


class Dag:
    def __init__(self, text):
        self.size, self.const, self.inputs, self.outputs, self.nodes = {}, set(), [], [], []
        for line in text.splitlines():
            words = line.split()
            if words and words[0] in ("input", "const"):
                name = words[1].rstrip(":")
                self.size[name] = bytes_of(words[2])
                if words[0] == "const":
                    self.const.add(name)
                else:
                    self.inputs.append(name)
            elif words and words[0] == "output":
                self.outputs.append(words[1])
            elif NODE.match(line):
                self.read_node(NODE.match(line))
            elif line.strip() and not line.startswith(" "):
                sys.exit(f"live_bound.py: a line of the dump is not understood: {line}")

    def read_node(self, match):
        made, op, operands, rest = match.groups()
        made = made.split(", ")
        types = TYPE.findall(rest.split('  "')[0].rpartition(" : ")[2])
        for name, (kind, dims) in zip(made, types, strict=True):
            self.size[name] = bytes_of(kind + dims)
        self.nodes.append((op, [o for o in operands.split(", ") if o not in ("", "-")], made))


def bound(dag, held):
    """The largest sum of bytes live at once. held: inputs and outputs are counted apart, from start to end."""
    end = len(dag.nodes)
    last = {}                                       # tensor -> index of its last reader
    for i, (_, operands, made) in enumerate(dag.nodes):
        for t in operands:
            last[t] = i
        for t in made:
            last.setdefault(t, i)
    for t in dag.outputs:
        last[t] = end
    root = {t: t for t in dag.size}                 # the tensor that owns the bytes

    def death(r):
        return max(last.get(t, -1) for t in root if root[t] == r)

    for op, operands, made in dag.nodes:
        if op in VIEWS and operands and operands[0] not in dag.const:
            for t in [t for t in root if root[t] == made[0]]:
                root[t] = root[operands[0]]
    callers = {root[t] for t in dag.inputs}
    results = {root[t] for t in dag.outputs} - callers
    for i, (op, operands, made) in enumerate(dag.nodes):
        if op not in ELEMENTWISE:
            continue
        for t in operands:
            r, own = root[t], root[made[0]]
            free = r not in callers and r not in dag.const
            if r != own and free and dag.size[r] == dag.size[made[0]] and death(r) == i:
                for member in [m for m in root if root[m] == own]:
                    root[member] = r
                if own in results:
                    results = results - {own} | {r}
                break

    born = {r: -1 for r in callers}
    for i, (_, _, made) in enumerate(dag.nodes):
        for t in made:
            born.setdefault(root[t], i)
    apart = callers | results if held else set()
    base = sum(dag.size[r] for r in apart)
    spans = [(born[r], death(r), dag.size[r]) for r in born if r not in apart and r not in dag.const]
    return base + max((sum(s for b, d, s in spans if b <= i <= d) for i in range(-1, end + 1)), default=0)


C_BYTES = {"int8_t": 1, "uint8_t": 1, "bool": 1, "int16_t": 2, "uint16_t": 2, "float": 4, "int32_t": 4, "uint32_t": 4,
           "double": 8, "int64_t": 8, "uint64_t": 8}


def header_bytes(text, upper):
    """(arena, inputs, outputs) from the text of the header of a model whose macros begin with `upper`."""
    def ports(word):
        line = re.search(rf"#define {upper}_{word}\(X\)((?:.*\\\n)*.*)", text).group(1)
        return sum(C_BYTES[kind] * int(count)
                   for kind, count in re.findall(r"X\(\s*\w+\s*,\s*(\w+)\s*,\s*(\d+)u?\s*\)", line))

    return int(re.search(rf"{upper}_ARENA_SIZE\s+(\d+)", text).group(1)), ports("INPUTS"), ports("OUTPUTS")


def emitted_bytes(loopwright, model, folder, io):
    """(arena, inputs, outputs) of the emitted model."""
    path = Path(folder) / "model.c"
    subprocess.run([loopwright, model, "-o", path, "--name", "model", "--quiet", "--io", io], check=True)
    arena, inputs, outputs = header_bytes(path.with_suffix(".h").read_text(), "MODEL")
    return (arena, inputs, outputs) if io == "caller" else (arena, 0, 0)


def figures(loopwright, model, io="caller"):
    """arena, inputs, outputs, bound with the caller's buffers held, bound with them dying; in bytes."""
    dump = subprocess.run([loopwright, "dump", model, "--at", "dag"], check=True, capture_output=True, text=True).stdout
    dag = Dag(dump)
    with tempfile.TemporaryDirectory() as folder:
        return *emitted_bytes(loopwright, model, folder, io), bound(dag, True), bound(dag, False)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("loopwright")
    parser.add_argument("model", nargs="+")
    parser.add_argument("--limit", type=float)
    parser.add_argument("--io", default="caller")
    wanted = parser.parse_args()
    limit, io = wanted.limit, wanted.io
    print(f"{'model':<20} {'arena':>9} {'inputs':>8} {'outputs':>8} {'RAM':>9} {'held':>9} {'ratio':>6} {'dying':>9} "
          f"{'ratio':>6}")
    above = 0
    for model in wanted.model:
        arena, inputs, outputs, held, dying = figures(wanted.loopwright, model, io)
        ram, name = arena + inputs + outputs, Path(model).stem
        print(f"{name:<20} {arena:>9} {inputs:>8} {outputs:>8} {ram:>9} {held:>9} {ram / held:>6.3f}"
              f" {dying:>9} {ram / dying:>6.3f}")
        if limit is not None:
            bound = held if io == "caller" else dying
            is_above = ram > limit * bound
            above += is_above
            print(f"not ok ram-{name}: {ram} bytes are {ram / bound:.3f} times the bound" if is_above
                  else f"ok ram-{name}")
    if limit is not None:
        print(f"{len(wanted.model) - above} passed, {above} failed, 0 skipped")
        sys.exit(above > 0)


if __name__ == "__main__":
    main()

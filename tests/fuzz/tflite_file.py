# SPDX-License-Identifier: MIT
"""Writes TFLite files without a package. A flatbuffer is written front to back, children behind their parents; every
field of a table has 8 bytes, and a field that is None is absent."""
import struct

F32, I32, I64, I8 = 0, 2, 4, 9


class Table(list):
    """Fields by their numbers in the schema: integers, floats, text, bytes, lists of integers (Ints), lists of
    tables."""


class Ints(list):
    def __init__(self, values, form="i"):
        super().__init__(values)
        self.form = form


class File:
    def __init__(self):
        self.bytes = bytearray(8)

    def grow(self, count):
        place = -(-len(self.bytes) // 8) * 8
        self.bytes.extend(bytes(place + count - len(self.bytes)))
        return place

    def put(self, place, form, *values):
        struct.pack_into("<" + form, self.bytes, place, *values)

    def vector(self, count, size):
        v = self.grow(4 + count * size)
        self.put(v, "I", count)
        return v

    def add(self, thing):
        """Appends it; returns its offset."""
        if isinstance(thing, Table):
            n = len(thing)
            vtable = self.grow(4 + 2 * n)
            self.put(vtable, "HH", 4 + 2 * n, 8 + 8 * n)
            t = self.grow(8 + 8 * n)
            self.put(t, "i", t - vtable)
            for i, value in enumerate(thing):
                self.put(vtable + 4 + 2 * i, "H", 0 if value is None else 8 + 8 * i)
                if isinstance(value, (int, float)):
                    self.put(t + 8 + 8 * i, "q" if isinstance(value, int) else "f", value)
                elif value is not None:
                    self.put(t + 8 + 8 * i, "I", self.add(value) - (t + 8 + 8 * i))
            return t
        if isinstance(thing, Ints):
            v = self.vector(len(thing), struct.calcsize(thing.form))
            self.put(v + 4, "%d%s" % (len(thing), thing.form), *thing)
            return v
        if isinstance(thing, list):
            v = self.vector(len(thing), 4)
            for i, child in enumerate(thing):
                self.put(v + 4 + 4 * i, "I", self.add(child) - (v + 4 + 4 * i))
            return v
        data = thing.encode() if isinstance(thing, str) else thing
        v = self.vector(len(data), 1)
        self.bytes[v + 4:v + 4 + len(data)] = data
        return v


def subgraph(name, tensors, operators, inputs, outputs, buffers, codes):
    lines = []
    for tensor_name, kind, shape, data, scales, zero in tensors:
        quantization = (scales
                        and Table([None, None, Ints(scales, "f"), Ints([zero] * len(scales), "q"), None, None,
                                   0 if shape[0] == len(scales) else len(shape) - 1]))
        signature = [None, None, Ints(shape)] if -1 in shape else []
        lines.append(Table([Ints([max(d, 1) for d in shape]), kind, len(buffers) if data else 0, tensor_name,
                            quantization] + signature))
        if data:
            buffers.append(Table([data]))
    nodes = [Table([codes.index(code), Ints(ins), Ints(outs), kind, Table(options)])
             for code, ins, outs, kind, options in operators]
    count = len(tensors)
    return Table([lines, Ints(range(inputs)), Ints(range(count - outputs, count)), nodes, name])


def model(name, tensors, operators, outputs=1, more=None):
    """Returns the bytes of a file. tensors: (name, type, shape, data or None, scales or None, zero point); the first is
    the input, the last are outputs; -1 is an open dimension.
    operators: (code, inputs, outputs, kind of options, options). more: tensors and operators of a second subgraph."""
    buffers = [Table([b""])]
    codes = sorted({o[0] for o in operators} | {o[0] for o in (more or [[], []])[1]})
    graphs = [subgraph(name, tensors, operators, 1, outputs, buffers, codes)]
    if more:
        graphs.append(subgraph(name + "_more", *more, 0, 0, buffers, codes))
    file = File()
    whole = file.add(Table([3, [Table([min(c, 127), None, 1, c]) for c in codes], graphs, None, buffers]))
    file.put(0, "I4s", whole, b"TFL3")
    return bytes(file.bytes)


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


def ints(*values):
    return struct.pack("<%di" % len(values), *values)

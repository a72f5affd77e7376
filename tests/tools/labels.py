#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""labels.py MODEL.tflite OUT.tflite NAME...: the model with metadata (metadata_schema.fbs) that names the classes of
its first output, in labels.txt of an archive after the model. Wrote tests/models/labels.tflite. Requires flatbuffers
and ai-edge-litert."""
import io
import sys
import zipfile

import flatbuffers
from ai_edge_litert import schema_py_generated as schema

AXIS_LABELS = 2


def vector(b, offsets):
    b.StartVector(4, len(offsets), 4)
    for o in reversed(offsets):
        b.PrependUOffsetTRelative(o)
    return b.EndVector()


def table(b, fields, slots):
    b.StartObject(slots)
    for slot, (kind, value) in fields.items():
        if kind == "byte":
            b.PrependInt8Slot(slot, value, 0)
        else:
            b.PrependUOffsetTRelativeSlot(slot, value, 0)
    return b.EndObject()


def metadata():
    b = flatbuffers.Builder(256)
    name = b.CreateString("labels.txt")
    file = table(b, {0: ("offset", name), 2: ("byte", AXIS_LABELS)}, 4)
    output = table(b, {6: ("offset", vector(b, [file]))}, 7)
    subgraph = table(b, {3: ("offset", vector(b, [output]))}, 6)
    b.Finish(table(b, {3: ("offset", vector(b, [subgraph]))}, 8), file_identifier=b"M001")
    return bytes(b.Output())


def main():
    source, target, *names = sys.argv[1:]
    model = schema.ModelT.InitFromPackedBuf(open(source, "rb").read(), 0)
    buffer = schema.BufferT()
    buffer.data = list(metadata())
    entry = schema.MetadataT()
    entry.name, entry.buffer = "TFLITE_METADATA", len(model.buffers)
    model.buffers.append(buffer)
    model.metadata = [entry]
    b = flatbuffers.Builder(1024)
    b.Finish(model.Pack(b), file_identifier=b"TFL3")
    whole = io.BytesIO(bytes(b.Output()))
    with zipfile.ZipFile(whole, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(zipfile.ZipInfo("labels.txt", (1980, 1, 1, 0, 0, 0)), "\n".join(names) + "\n")
    open(target, "wb").write(whole.getvalue())


main()

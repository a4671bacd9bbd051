# Copyright 2026 The Lowtide Authors
# SPDX-License-Identifier: Apache-2.0
"""Reads .tflite files to tables of schema.py, and writes them. Fields that schema.py does not name are lost."""
import struct

import flatbuffers
import numpy as np
from schema import TABLES, UNION, UNION_CODES, Table

IDENTIFIER = b"TFL3"
NUMPY = {"b": "i1", "B": "u1", "?": "?", "i": "<i4", "I": "<u4", "f": "<f4", "q": "<i8", "Q": "<u8"}
PREPEND = {"b": "PrependInt8", "B": "PrependUint8", "?": "PrependBool", "i": "PrependInt32", "I": "PrependUint32",
           "f": "PrependFloat32", "q": "PrependInt64", "Q": "PrependUint64"}


def read(data):
    """The model of the bytes of a file. Raises ValueError or struct.error if they are none."""
    if data[4:8] != IDENTIFIER:
        raise ValueError("the bytes at 4 are not TFL3")
    return _Reader(data).table("Model", _at(data, "I", 0))


def write(model):
    """The bytes of a file."""
    writer = _Writer()
    writer.builder.Finish(writer.table(model), IDENTIFIER)
    return bytes(writer.builder.Output())


def _at(data, form, position):
    return struct.unpack_from("<" + form, data, position)[0]


class _Reader:
    def __init__(self, data):
        self.data = data

    def follow(self, position):
        return position + _at(self.data, "I", position)

    def table(self, name, start):
        vtable = start - _at(self.data, "i", start)
        count = (_at(self.data, "H", vtable) - 4) // 2
        result = Table(name)
        for number, field in enumerate(TABLES[name]):
            if field is None or number >= count:
                continue
            distance = _at(self.data, "H", vtable + 4 + 2 * number)
            if distance:
                setattr(result, field[0], self.field(field[1], start + distance, result))
        return result

    def field(self, form, position, parent):
        if isinstance(form, list):
            return self.vector(form[0], self.follow(position))
        if form == "string":
            return self.string(self.follow(position))
        if form == "union":
            # Options that schema.py does not know stay None, and their code stays.
            name = UNION.get(parent.options_type)
            return self.table(name, self.follow(position)) if name else None
        if len(form) > 1:
            return self.table(form, self.follow(position))
        return _at(self.data, form, position)

    def string(self, position):
        count = _at(self.data, "I", position)
        return self.data[position + 4:position + 4 + count].decode()

    def vector(self, form, position):
        count = _at(self.data, "I", position)
        position += 4
        if len(form) == 1:
            return np.frombuffer(self.data, NUMPY[form], count, position).copy()
        return [self.table(form, self.follow(position + 4 * i)) for i in range(count)]


class _Writer:
    def __init__(self):
        self.builder = flatbuffers.Builder(1 << 16)

    def table(self, record):
        fields = TABLES[record.table]
        if record.table == "Operator" and record.options is not None:
            record.options_type = UNION_CODES[record.options.table]
        offsets = {field[0]: self.child(field, getattr(record, field[0])) for field in filter(None, fields)
                   if not (isinstance(field[1], str) and len(field[1]) == 1)}
        self.builder.StartObject(len(fields))
        for number, field in enumerate(fields):
            if field is None:
                continue
            if field[0] in offsets:
                if offsets[field[0]]:
                    self.builder.PrependUOffsetTRelativeSlot(number, offsets[field[0]], 0)
            elif getattr(record, field[0]) != (field[2] if len(field) > 2 else 0):
                getattr(self.builder, PREPEND[field[1]])(getattr(record, field[0]))
                self.builder.Slot(number)
        return self.builder.EndObject()

    def child(self, field, value):
        """Writes what a field points at, and returns where; None if the field is absent."""
        if value is None:
            return None
        form = field[1]
        if form == "string":
            return self.builder.CreateString(value)
        if not isinstance(form, list):
            return self.table(value)
        if len(form[0]) == 1:
            return self.scalars(np.asarray(value, NUMPY[form[0]]), 16 if field[0] == "data" else 4)
        offsets = [self.table(one) for one in value]
        self.builder.StartVector(4, len(offsets), 4)
        for offset in reversed(offsets):
            self.builder.PrependUOffsetTRelative(offset)
        return self.builder.EndVector()

    def scalars(self, values, alignment):
        """A vector whose first element is at a multiple of the alignment, as data of buffers must be."""
        raw = values.tobytes()
        self.builder.StartVector(values.itemsize, values.size, max(alignment, values.itemsize))
        self.builder.head -= len(raw)
        self.builder.Bytes[self.builder.head:self.builder.head + len(raw)] = raw
        return self.builder.EndVector()

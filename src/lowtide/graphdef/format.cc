// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graphdef/format.h"

#include <array>

namespace lowtide::graphdef_internal {
namespace {

using enum ProtoType;

constexpr bool kRepeated = true;

constexpr auto kDataTypes = std::to_array<ProtoEnumValue>({
    {"DT_INVALID", 0},
    {"DT_FLOAT", 1},
    {"DT_DOUBLE", 2},
    {"DT_INT32", 3},
    {"DT_UINT8", 4},
    {"DT_INT16", 5},
    {"DT_INT8", 6},
    {"DT_STRING", 7},
    {"DT_COMPLEX64", 8},
    {"DT_INT64", 9},
    {"DT_BOOL", 10},
    {"DT_QINT8", 11},
    {"DT_QUINT8", 12},
    {"DT_QINT32", 13},
    {"DT_BFLOAT16", 14},
    {"DT_QINT16", 15},
    {"DT_QUINT16", 16},
    {"DT_UINT16", 17},
    {"DT_COMPLEX128", 18},
    {"DT_HALF", 19},
    {"DT_RESOURCE", 20},
    {"DT_VARIANT", 21},
    {"DT_UINT32", 22},
    {"DT_UINT64", 23},
    {"DT_FLOAT8_E5M2", 24},
    {"DT_FLOAT8_E4M3FN", 25},
    {"DT_FLOAT8_E4M3FNUZ", 26},
    {"DT_FLOAT8_E4M3B11FNUZ", 27},
    {"DT_FLOAT8_E5M2FNUZ", 28},
    {"DT_INT4", 29},
    {"DT_UINT4", 30},
    {"DT_INT2", 31},
    {"DT_UINT2", 32},
    {"DT_FLOAT4_E2M1FN", 33},
    {"DT_FLOAT_REF", 101},
    {"DT_DOUBLE_REF", 102},
    {"DT_INT32_REF", 103},
    {"DT_UINT8_REF", 104},
    {"DT_INT16_REF", 105},
    {"DT_INT8_REF", 106},
    {"DT_STRING_REF", 107},
    {"DT_COMPLEX64_REF", 108},
    {"DT_INT64_REF", 109},
    {"DT_BOOL_REF", 110},
    {"DT_HALF_REF", 119},
});

extern const ProtoSchema kDimSchema;
extern const ProtoSchema kShapeSchema;
extern const ProtoSchema kTensorSchema;
extern const ProtoSchema kListSchema;
extern const ProtoSchema kEntrySchema;
extern const ProtoSchema kFunctionSchema;

constexpr auto kDimFields = std::to_array<ProtoFieldSchema>({{1, "size", int64}, {2, "name", text}});

constexpr auto kShapeFields = std::to_array<ProtoFieldSchema>({
    {2, "dim", message, kRepeated, &kDimSchema},
    {3, "unknown_rank", boolean},
});

constexpr auto kTensorFields = std::to_array<ProtoFieldSchema>({
    {1, "dtype", enumeration, false, nullptr, kDataTypes},
    {2, "tensor_shape", message, false, &kShapeSchema},
    {3, "version_number", int32},
    {4, "tensor_content", bytes},
    {5, "float_val", f32, kRepeated},
    {6, "double_val", f64, kRepeated},
    {7, "int_val", int32, kRepeated},
    {8, "string_val", bytes, kRepeated},
    {9, "scomplex_val", f32, kRepeated},
    {10, "int64_val", int64, kRepeated},
    {11, "bool_val", boolean, kRepeated},
    {12, "dcomplex_val", f64, kRepeated},
    {13, "half_val", int32, kRepeated},
    {16, "uint32_val", uint32, kRepeated},
});

constexpr auto kListFields = std::to_array<ProtoFieldSchema>({
    {2, "s", bytes, kRepeated},
    {3, "i", int64, kRepeated},
    {4, "f", f32, kRepeated},
    {5, "b", boolean, kRepeated},
    {6, "type", enumeration, kRepeated, nullptr, kDataTypes},
    {7, "shape", message, kRepeated, &kShapeSchema},
    {8, "tensor", message, kRepeated, &kTensorSchema},
    {9, "func", message, kRepeated, &kFunctionSchema},
});

constexpr auto kValueFields = std::to_array<ProtoFieldSchema>({
    {1, "list", message, false, &kListSchema},
    {2, "s", bytes},
    {3, "i", int64},
    {4, "f", f32},
    {5, "b", boolean},
    {6, "type", enumeration, false, nullptr, kDataTypes},
    {7, "shape", message, false, &kShapeSchema},
    {8, "tensor", message, false, &kTensorSchema},
    {9, "placeholder", text},
    {10, "func", message, false, &kFunctionSchema},
});

constexpr auto kEntryFields = std::to_array<ProtoFieldSchema>({
    {1, "key", text},
    {2, "value", message, false, &kValueSchema},
});

constexpr auto kFunctionFields = std::to_array<ProtoFieldSchema>({
    {1, "name", text},
    {2, "attr", message, kRepeated, &kEntrySchema},
});

constexpr auto kNodeFields = std::to_array<ProtoFieldSchema>({
    {1, "name", text},
    {2, "op", text},
    {3, "input", text, kRepeated},
    {4, "device", text},
    {5, "attr", message, kRepeated, &kEntrySchema},
});

constexpr auto kVersionFields = std::to_array<ProtoFieldSchema>({
    {1, "producer", int32},
    {2, "min_consumer", int32},
    {3, "bad_consumers", int32, kRepeated},
});
const ProtoSchema kVersionSchema = {"VersionDef", kVersionFields};

// The library of functions has no fields here, so that its content is not read. The text form cannot have one.
constexpr auto kGraphFields = std::to_array<ProtoFieldSchema>({
    {1, "node", message, kRepeated, &kNodeSchema},
    {2, "library", bytes},
    {3, "version", int32},
    {4, "versions", message, false, &kVersionSchema},
    {5, "debug_info", bytes},
});

const ProtoSchema kDimSchema = {"Dim", kDimFields};
const ProtoSchema kShapeSchema = {"TensorShapeProto", kShapeFields};
const ProtoSchema kTensorSchema = {"TensorProto", kTensorFields};
const ProtoSchema kListSchema = {"ListValue", kListFields};
const ProtoSchema kEntrySchema = {"AttrEntry", kEntryFields};
const ProtoSchema kFunctionSchema = {"NameAttrList", kFunctionFields};

}  // namespace

const ProtoSchema kGraphSchema = {"GraphDef", kGraphFields};
const ProtoSchema kNodeSchema = {"NodeDef", kNodeFields};
const ProtoSchema kValueSchema = {"AttrValue", kValueFields};

}  // namespace lowtide::graphdef_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/format.h"

#include <array>

#include "lowtide/earlier/graphdef/data_types.h"
#include "lowtide/earlier/graphdef/function_format.h"

namespace lowtide::graphdef_internal {
namespace {

using enum ProtoType;

constexpr bool kRepeated = true;

extern const ProtoSchema kDimSchema;
extern const ProtoSchema kListSchema;
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
    {14, "resource_handle_val", message, kRepeated, &kResourceHandleSchema},
    {15, "variant_val", message, kRepeated, &kVariantSchema},
    {16, "uint32_val", uint32, kRepeated},
    {17, "uint64_val", uint64, kRepeated},
    {18, "float8_val", bytes},
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
    {6, "experimental_debug_info", message, false, &kNodeDebugInfoSchema},
    {7, "experimental_type", message, false, &kFullTypeSchema},
});

constexpr auto kVersionFields = std::to_array<ProtoFieldSchema>({
    {1, "producer", int32},
    {2, "min_consumer", int32},
    {3, "bad_consumers", int32, kRepeated},
});
const ProtoSchema kVersionSchema = {"VersionDef", kVersionFields};

constexpr auto kGraphFields = std::to_array<ProtoFieldSchema>({
    {1, "node", message, kRepeated, &kNodeSchema},
    {2, "library", message, false, &kLibrarySchema},
    {3, "version", int32},
    {4, "versions", message, false, &kVersionSchema},
    {5, "debug_info", message, false, &kDebugInfoSchema},
});

const ProtoSchema kDimSchema = {"Dim", kDimFields};
const ProtoSchema kListSchema = {"ListValue", kListFields};
const ProtoSchema kFunctionSchema = {"NameAttrList", kFunctionFields};

}  // namespace

const ProtoSchema kShapeSchema = {"TensorShapeProto", kShapeFields};
const ProtoSchema kTensorSchema = {"TensorProto", kTensorFields};
const ProtoSchema kEntrySchema = {"AttrEntry", kEntryFields};
const ProtoSchema kGraphSchema = {"GraphDef", kGraphFields};
const ProtoSchema kNodeSchema = {"NodeDef", kNodeFields};
const ProtoSchema kValueSchema = {"AttrValue", kValueFields};

}  // namespace lowtide::graphdef_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/graphdef/function_format.h"

#include <array>

#include "lowtide/earlier/graphdef/data_types.h"
#include "lowtide/earlier/graphdef/format.h"

namespace lowtide::graphdef_internal {
namespace {

using enum ProtoType;
using Fields = ProtoFieldSchema;

constexpr bool kMany = true;

constexpr auto kFullTypeIds = std::to_array<ProtoEnumValue>({
    {"TFT_UNSET", 0},
    {"TFT_VAR", 1},
    {"TFT_ANY", 2},
    {"TFT_PRODUCT", 3},
    {"TFT_NAMED", 4},
    {"TFT_FOR_EACH", 20},
    {"TFT_CALLABLE", 100},
    {"TFT_BOOL", 200},
    {"TFT_UINT8", 201},
    {"TFT_UINT16", 202},
    {"TFT_UINT32", 203},
    {"TFT_UINT64", 204},
    {"TFT_INT8", 205},
    {"TFT_INT16", 206},
    {"TFT_INT32", 207},
    {"TFT_INT64", 208},
    {"TFT_HALF", 209},
    {"TFT_FLOAT", 210},
    {"TFT_DOUBLE", 211},
    {"TFT_COMPLEX64", 212},
    {"TFT_COMPLEX128", 213},
    {"TFT_STRING", 214},
    {"TFT_BFLOAT16", 215},
    {"TFT_TENSOR", 1000},
    {"TFT_ARRAY", 1001},
    {"TFT_OPTIONAL", 1002},
    {"TFT_LITERAL", 1003},
    {"TFT_ENCODED", 1004},
    {"TFT_SHAPE_TENSOR", 1005},
    {"TFT_DATASET", 10102},
    {"TFT_RAGGED", 10103},
    {"TFT_ITERATOR", 10104},
    {"TFT_MUTEX_LOCK", 10202},
    {"TFT_LEGACY_VARIANT", 10203},
});

extern const ProtoSchema kFunctionDefSchema;
extern const ProtoSchema kSignatureSchema;
extern const ProtoSchema kOperandSchema;
extern const ProtoSchema kOpAttributeSchema;
extern const ProtoSchema kTypeAndShapeSchema;
extern const ProtoSchema kNamedTextSchema;
extern const ProtoSchema kOperandAttributesSchema;
extern const ProtoSchema kOperandAttributesEntrySchema;
extern const ProtoSchema kUniqueIdSchema;
extern const ProtoSchema kDeprecationSchema;
extern const ProtoSchema kGradientSchema;
extern const ProtoSchema kRegisteredGradientSchema;
extern const ProtoSchema kStackFrameSchema;
extern const ProtoSchema kFrameEntrySchema;
extern const ProtoSchema kTraceSchema;
extern const ProtoSchema kTraceByIdSchema;
extern const ProtoSchema kTraceByNameSchema;
extern const ProtoSchema kTraceIdSchema;

constexpr auto kFullTypeFields = std::to_array<Fields>({
    {1, "type_id", enumeration, false, nullptr, kFullTypeIds},
    {2, "args", message, kMany, &kFullTypeSchema},
    {3, "s", text},
    {4, "i", int64},
});

constexpr auto kLibraryFields = std::to_array<Fields>({
    {1, "function", message, kMany, &kFunctionDefSchema},
    {2, "gradient", message, kMany, &kGradientSchema},
    {3, "registered_gradients", message, kMany, &kRegisteredGradientSchema},
});

constexpr auto kFunctionDefFields = std::to_array<Fields>({
    {1, "signature", message, false, &kSignatureSchema},
    {3, "node_def", message, kMany, &kNodeSchema},
    {4, "ret", message, kMany, &kNamedTextSchema},
    {5, "attr", message, kMany, &kEntrySchema},
    {6, "control_ret", message, kMany, &kNamedTextSchema},
    {7, "arg_attr", message, kMany, &kOperandAttributesEntrySchema},
    {8, "resource_arg_unique_id", message, kMany, &kUniqueIdSchema},
});

constexpr auto kSignatureFields = std::to_array<Fields>({
    {1, "name", text},
    {2, "input_arg", message, kMany, &kOperandSchema},
    {3, "output_arg", message, kMany, &kOperandSchema},
    {4, "attr", message, kMany, &kOpAttributeSchema},
    {5, "summary", text},
    {6, "description", text},
    {8, "deprecation", message, false, &kDeprecationSchema},
    {16, "is_aggregate", boolean},
    {17, "is_stateful", boolean},
    {18, "is_commutative", boolean},
    {19, "allows_uninitialized_input", boolean},
    {20, "control_output", text, kMany},
    {21, "is_distributed_communication", boolean},
});

constexpr auto kOperandFields = std::to_array<Fields>({
    {1, "name", text},
    {2, "description", text},
    {3, "type", enumeration, false, nullptr, kDataTypes},
    {4, "type_attr", text},
    {5, "number_attr", text},
    {6, "type_list_attr", text},
    {7, "handle_data", message, kMany, &kTypeAndShapeSchema},
    {16, "is_ref", boolean},
    {17, "experimental_full_type", message, false, &kFullTypeSchema},
});

constexpr auto kOpAttributeFields = std::to_array<Fields>({
    {1, "name", text},
    {2, "type", text},
    {3, "default_value", message, false, &kValueSchema},
    {4, "description", text},
    {5, "has_minimum", boolean},
    {6, "minimum", int64},
    {7, "allowed_values", message, false, &kValueSchema},
});

constexpr auto kTypeAndShapeFields = std::to_array<Fields>({
    {1, "dtype", enumeration, false, nullptr, kDataTypes},
    {2, "shape", message, false, &kShapeSchema},
});
constexpr auto kNamedTextFields = std::to_array<Fields>({{1, "key", text}, {2, "value", text}});
constexpr auto kOperandAttributesFields = std::to_array<Fields>({{1, "attr", message, kMany, &kEntrySchema}});
constexpr auto kOperandAttributesEntryFields =
    std::to_array<Fields>({{1, "key", uint32}, {2, "value", message, false, &kOperandAttributesSchema}});
constexpr auto kUniqueIdFields = std::to_array<Fields>({{1, "key", uint32}, {2, "value", uint32}});
constexpr auto kDeprecationFields = std::to_array<Fields>({{1, "version", int32}, {2, "explanation", text}});
constexpr auto kGradientFields = std::to_array<Fields>({{1, "function_name", text}, {2, "gradient_func", text}});
constexpr auto kRegisteredGradientFields =
    std::to_array<Fields>({{1, "gradient_func", text}, {2, "registered_op_type", text}});

constexpr auto kDebugInfoFields = std::to_array<Fields>({
    {1, "files", text, kMany},
    {2, "traces", message, kMany, &kTraceByNameSchema},
    {4, "frames_by_id", message, kMany, &kFrameEntrySchema},
    {5, "name_to_trace_id", message, kMany, &kTraceIdSchema},
    {6, "traces_by_id", message, kMany, &kTraceByIdSchema},
});
constexpr auto kStackFrameFields = std::to_array<Fields>(
    {{1, "file_index", int32}, {2, "line", int32}, {3, "col", int32}, {4, "func", text}, {5, "code", text}});
constexpr auto kFrameEntryFields =
    std::to_array<Fields>({{1, "key", fixed64}, {2, "value", message, false, &kStackFrameSchema}});
constexpr auto kTraceFields =
    std::to_array<Fields>({{1, "file_line_cols", message, kMany, &kStackFrameSchema}, {2, "frame_id", fixed64, kMany}});
constexpr auto kTraceByIdFields =
    std::to_array<Fields>({{1, "key", fixed64}, {2, "value", message, false, &kTraceSchema}});
constexpr auto kTraceByNameFields =
    std::to_array<Fields>({{1, "key", text}, {2, "value", message, false, &kTraceSchema}});
constexpr auto kTraceIdFields = std::to_array<Fields>({{1, "key", text}, {2, "value", fixed64}});

constexpr auto kNodeDebugInfoFields =
    std::to_array<Fields>({{1, "original_node_names", text, kMany}, {2, "original_func_names", text, kMany}});

constexpr auto kResourceHandleFields = std::to_array<Fields>({
    {1, "device", text},
    {2, "container", text},
    {3, "name", text},
    {4, "hash_code", uint64},
    {5, "maybe_type_name", text},
    {6, "dtypes_and_shapes", message, kMany, &kTypeAndShapeSchema},
});

constexpr auto kVariantFields = std::to_array<Fields>(
    {{1, "type_name", text}, {2, "metadata", bytes}, {3, "tensors", message, kMany, &kTensorSchema}});

const ProtoSchema kFunctionDefSchema = {"FunctionDef", kFunctionDefFields};
const ProtoSchema kSignatureSchema = {"OpDef", kSignatureFields};
const ProtoSchema kOperandSchema = {"ArgDef", kOperandFields};
const ProtoSchema kOpAttributeSchema = {"AttrDef", kOpAttributeFields};
const ProtoSchema kTypeAndShapeSchema = {"DtypeAndShape", kTypeAndShapeFields};
const ProtoSchema kNamedTextSchema = {"RetEntry", kNamedTextFields};
const ProtoSchema kOperandAttributesSchema = {"ArgAttrs", kOperandAttributesFields};
const ProtoSchema kOperandAttributesEntrySchema = {"ArgAttrEntry", kOperandAttributesEntryFields};
const ProtoSchema kUniqueIdSchema = {"ResourceArgUniqueIdEntry", kUniqueIdFields};
const ProtoSchema kDeprecationSchema = {"OpDeprecation", kDeprecationFields};
const ProtoSchema kGradientSchema = {"GradientDef", kGradientFields};
const ProtoSchema kRegisteredGradientSchema = {"RegisteredGradient", kRegisteredGradientFields};
const ProtoSchema kStackFrameSchema = {"FileLineCol", kStackFrameFields};
const ProtoSchema kFrameEntrySchema = {"FramesByIdEntry", kFrameEntryFields};
const ProtoSchema kTraceSchema = {"StackTrace", kTraceFields};
const ProtoSchema kTraceByIdSchema = {"TracesByIdEntry", kTraceByIdFields};
const ProtoSchema kTraceByNameSchema = {"TracesEntry", kTraceByNameFields};
const ProtoSchema kTraceIdSchema = {"NameToTraceIdEntry", kTraceIdFields};

}  // namespace

const ProtoSchema kLibrarySchema = {"FunctionDefLibrary", kLibraryFields};
const ProtoSchema kFullTypeSchema = {"FullTypeDef", kFullTypeFields};
const ProtoSchema kDebugInfoSchema = {"GraphDebugInfo", kDebugInfoFields};
const ProtoSchema kNodeDebugInfoSchema = {"ExperimentalDebugInfo", kNodeDebugInfoFields};
const ProtoSchema kResourceHandleSchema = {"ResourceHandleProto", kResourceHandleFields};
const ProtoSchema kVariantSchema = {"VariantTensorDataProto", kVariantFields};

}  // namespace lowtide::graphdef_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/earlier/netdef/format.h"

#include <array>

namespace lowtide::netdef_internal {
namespace {

using enum ProtoType;

constexpr bool kRepeated = true;

constexpr std::array<ProtoEnumValue, 16> kDataTypes = {{{"UNDEFINED", 0},
                                                        {"FLOAT", 1},
                                                        {"INT32", 2},
                                                        {"BYTE", 3},
                                                        {"STRING", 4},
                                                        {"BOOL", 5},
                                                        {"UINT8", 6},
                                                        {"INT8", 7},
                                                        {"UINT16", 8},
                                                        {"INT16", 9},
                                                        {"INT64", 10},
                                                        {"FLOAT16", 12},
                                                        {"DOUBLE", 13},
                                                        {"ZERO_COLLISION_HASH", 14},
                                                        {"REBATCHING_BUFFER", 15},
                                                        {"BFLOAT16", 16}}};

constexpr auto kDeviceFields = std::to_array<ProtoFieldSchema>({
    {1, "device_type", int32},
    {2, "device_id", int32},
    {3, "random_seed", uint32},
    {4, "node_name", text},
    {5, "numa_node_id", int32},
    {6, "extra_info", text, kRepeated},
    {2, "cuda_gpu_id", int32},  // the older name of device_id
});

constexpr auto kSegmentFields = std::to_array<ProtoFieldSchema>({{1, "begin", int64}, {2, "end", int64}});

extern const ProtoSchema kDeviceSchema;
extern const ProtoSchema kArgumentSchema;
extern const ProtoSchema kTensorSchema;
const ProtoSchema kSegmentSchema = {"Segment", kSegmentFields};

constexpr auto kTensorFields = std::to_array<ProtoFieldSchema>({
    {1, "dims", int64, kRepeated},
    {2, "data_type", enumeration, false, nullptr, kDataTypes},
    {3, "float_data", f32, kRepeated},
    {4, "int32_data", int32, kRepeated},
    {5, "byte_data", bytes},
    {6, "string_data", bytes, kRepeated},
    {7, "name", text},
    {8, "device_detail", message, false, &kDeviceSchema},
    {9, "double_data", f64, kRepeated},
    {10, "int64_data", int64, kRepeated},
    {11, "segment", message, false, &kSegmentSchema},
    {13, "raw_data", bytes},
});

constexpr auto kQuantizedFields = std::to_array<ProtoFieldSchema>({
    {1, "dims", int64, kRepeated},
    {2, "precision", int32},
    {3, "scale", f64},
    {4, "bias", f64},
    {5, "is_signed", boolean},
    {6, "data", int32, kRepeated},
    {7, "name", text},
});
const ProtoSchema kQuantizedSchema = {"QTensorProto", kQuantizedFields};

constexpr auto kArgumentFields = std::to_array<ProtoFieldSchema>({
    {1, "name", text},
    {2, "f", f32},
    {3, "i", int64},
    {4, "s", bytes},
    {8, "n", message, false, &kNetSchema},
    {5, "floats", f32, kRepeated},
    {6, "ints", int64, kRepeated},
    {7, "strings", bytes, kRepeated},
    {9, "nets", message, kRepeated, &kNetSchema},
    {10, "t", message, false, &kTensorSchema},
    {11, "tensors", message, kRepeated, &kTensorSchema},
    {12, "qtensors", message, kRepeated, &kQuantizedSchema},
});

constexpr auto kOpFields = std::to_array<ProtoFieldSchema>({
    {1, "input", text, kRepeated},
    {2, "output", text, kRepeated},
    {3, "name", text},
    {4, "type", text},
    {5, "arg", message, kRepeated, &kArgumentSchema},
    {6, "device_option", message, false, &kDeviceSchema},
    {7, "engine", text},
    {8, "control_input", text, kRepeated},
    {9, "is_gradient_op", boolean},
    {10, "debug_info", text},
    {11, "domain", text},
    {12, "op_version", text},
});
const ProtoSchema kOpSchema = {"OperatorDef", kOpFields};

constexpr auto kNetFields = std::to_array<ProtoFieldSchema>({
    {1, "name", text},
    {2, "op", message, kRepeated, &kOpSchema},
    {3, "type", text},
    {4, "num_workers", int32},
    {5, "device_option", message, false, &kDeviceSchema},
    {6, "arg", message, kRepeated, &kArgumentSchema},
    {7, "external_input", text, kRepeated},
    {8, "external_output", text, kRepeated},
});

const ProtoSchema kDeviceSchema = {"DeviceOption", kDeviceFields};
const ProtoSchema kArgumentSchema = {"Argument", kArgumentFields};
const ProtoSchema kTensorSchema = {"TensorProto", kTensorFields};

}  // namespace

const ProtoSchema kNetSchema = {"NetDef", kNetFields};

std::span<const ProtoEnumValue> data_types() { return kDataTypes; }

}  // namespace lowtide::netdef_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/load/wire_fields.h"

#include <array>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {
namespace {

// The memory of a message in a repeated field: the object, the header of the allocation, and the pointer twice,
// because the array of pointers grows.
constexpr std::size_t cost_of(std::size_t object) { return object + 32; }

constexpr std::size_t kDefaultCost = kDefaultMessageCost;
constexpr std::size_t kPairCost = cost_of(sizeof(onnx::StringStringEntryProto));
constexpr std::size_t kTensorCost = cost_of(sizeof(onnx::TensorProto));
constexpr std::size_t kSparseCost = cost_of(sizeof(onnx::SparseTensorProto));
constexpr std::size_t kGraphCost = cost_of(sizeof(onnx::GraphProto));
constexpr std::size_t kNodeCost = cost_of(sizeof(onnx::NodeProto));
constexpr std::size_t kAttributeCost = cost_of(sizeof(onnx::AttributeProto));
constexpr std::size_t kValueInfoCost = cost_of(sizeof(onnx::ValueInfoProto));
constexpr std::size_t kTypeCost = cost_of(sizeof(onnx::TypeProto));
constexpr std::size_t kTensorTypeCost = cost_of(sizeof(onnx::TypeProto_Tensor));
constexpr std::size_t kShapeCost = cost_of(sizeof(onnx::TensorShapeProto));
constexpr std::size_t kDimensionCost = cost_of(sizeof(onnx::TensorShapeProto_Dimension));
constexpr std::size_t kOpsetCost = cost_of(sizeof(onnx::OperatorSetIdProto));

constexpr Field kFields[] = {
    {kModel, 7, kNested, kGraph, kGraphCost},
    {kModel, 8, kNested, kOther, kOpsetCost},
    {kModel, 14, kNested, kOther, kPairCost},
    {kModel, 20, kNested, kTraining, kDefaultCost},
    {kModel, 25, kNested, kFunction, cost_of(sizeof(onnx::FunctionProto))},
    {kModel, 26, kNested, kOther, kDefaultCost},
    {kTraining, 1, kNested, kGraph, kGraphCost},
    {kTraining, 2, kNested, kGraph, kGraphCost},
    {kTraining, 3, kNested, kOther, kPairCost},
    {kTraining, 4, kNested, kOther, kPairCost},
    {kFunction, 7, kNested, kNode, kNodeCost},
    {kFunction, 9, kNested, kOther, kOpsetCost},
    {kFunction, 11, kNested, kAttribute, kAttributeCost},
    {kFunction, 12, kNested, kValueInfo, kValueInfoCost},
    {kFunction, 14, kNested, kOther, kPairCost},
    {kGraph, 1, kNested, kNode, kNodeCost},
    {kGraph, 5, kNested, kTensor, kTensorCost},
    {kGraph, 11, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 12, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 13, kNested, kValueInfo, kValueInfoCost},
    {kGraph, 14, kNested, kAnnotation, cost_of(sizeof(onnx::TensorAnnotation))},
    {kGraph, 15, kNested, kSparseTensor, kSparseCost},
    {kGraph, 16, kNested, kOther, kPairCost},
    {kAnnotation, 2, kNested, kOther, kPairCost},
    {kNode, 5, kNested, kAttribute, kAttributeCost},
    {kNode, 9, kNested, kOther, kPairCost},
    {kNode, 10, kNested, kDevice, cost_of(sizeof(onnx::NodeDeviceConfigurationProto))},
    {kDevice, 2, kNested, kSharding, cost_of(sizeof(onnx::ShardingSpecProto))},
    {kSharding, 2, kVarints, kOther, 0},
    {kSharding, 3, kNested, kOther, kDefaultCost},
    {kSharding, 4, kNested, kShardedDim, kDefaultCost},
    {kShardedDim, 2, kNested, kOther, kDefaultCost},
    {kAttribute, 5, kNested, kTensor, kTensorCost},
    {kAttribute, 6, kNested, kGraph, kGraphCost},
    {kAttribute, 7, kFixed, kOther, 0},
    {kAttribute, 8, kVarints, kOther, 0},
    {kAttribute, 10, kNested, kTensor, kTensorCost},
    {kAttribute, 11, kNested, kGraph, kGraphCost},
    {kAttribute, 14, kNested, kType, kTypeCost},
    {kAttribute, 15, kNested, kType, kTypeCost},
    {kAttribute, 22, kNested, kSparseTensor, kSparseCost},
    {kAttribute, 23, kNested, kSparseTensor, kSparseCost},
    {kTensor, 1, kVarints, kOther, 0},
    {kTensor, 3, kNested, kOther, kDefaultCost},
    {kTensor, 4, kFixed, kOther, 0},
    {kTensor, 5, kVarints, kOther, 0},
    {kTensor, 7, kVarints, kOther, 0},
    {kTensor, 10, kFixed, kOther, 0},
    {kTensor, 11, kVarints, kOther, 0},
    {kTensor, 13, kNested, kOther, kPairCost},
    {kTensor, 16, kNested, kOther, kPairCost},
    {kSparseTensor, 1, kNested, kTensor, kTensorCost},
    {kSparseTensor, 2, kNested, kTensor, kTensorCost},
    {kSparseTensor, 3, kVarints, kOther, 0},
    {kValueInfo, 2, kNested, kType, kTypeCost},
    {kValueInfo, 4, kNested, kOther, kPairCost},
    {kType, 1, kNested, kTensorType, kTensorTypeCost},
    {kType, 4, kNested, kWrappedType, kTensorTypeCost},
    {kType, 5, kNested, kMapType, kTensorTypeCost},
    {kType, 7, kNested, kOther, kTensorTypeCost},
    {kType, 8, kNested, kTensorType, kTensorTypeCost},
    {kType, 9, kNested, kWrappedType, kTensorTypeCost},
    {kTensorType, 2, kNested, kShape, kShapeCost},
    {kWrappedType, 1, kNested, kType, kTypeCost},
    {kMapType, 2, kNested, kType, kTypeCost},
    {kShape, 1, kNested, kOther, kDimensionCost},
};

constexpr std::uint32_t kFieldNumbers = 32;  // ONNX uses numbers up to 26
using FieldTable = std::array<std::array<const Field*, kFieldNumbers>, kMessages>;

constexpr FieldTable make_field_table() {
  FieldTable table = {};
  for (const Field& field : kFields) table[field.parent][field.number] = &field;
  return table;
}
constexpr FieldTable kFieldTable = make_field_table();

}  // namespace

const Field* find_field(Message parent, std::uint32_t number) {
  return number < kFieldNumbers ? kFieldTable[parent][number] : nullptr;
}

}  // namespace lowtide::import_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/export/onnx/types.h"

#include <algorithm>

#include "lowtide/base/check.h"
#include "lowtide/base/utf8.h"

namespace lowtide::export_internal {

onnx::TensorProto::DataType onnx_type_of(DType dtype) {
  return static_cast<onnx::TensorProto::DataType>(onnx_number_of(dtype));
}

std::int64_t ir_version_of(DType dtype) {
  switch (dtype) {
    case DType::f8e4m3fn:
    case DType::f8e4m3fnuz:
    case DType::f8e5m2:
    case DType::f8e5m2fnuz: return 9;
    case DType::i4:
    case DType::u4: return 10;
    case DType::f4e2m1: return 11;
    case DType::f8e8m0: return 12;
    case DType::i2:
    case DType::u2: return 13;
    default: return 8;
  }
}

onnx::ValueInfoProto value_info(const std::string& name, DType dtype, const Shape& shape, bool with_bounds) {
  onnx::ValueInfoProto info;
  info.set_name(name);
  onnx::TypeProto::Tensor& type = *info.mutable_type()->mutable_tensor_type();
  type.set_elem_type(onnx_type_of(dtype));
  onnx::TensorShapeProto& to = *type.mutable_shape();  // present, even if it has no extents
  for (int axis = 0; axis < shape.rank(); ++axis) {
    onnx::TensorShapeProto::Dimension& dimension = *to.add_dim();
    if (with_bounds && shape.is_at_most(axis)) {
      dimension.set_dim_param("<=" + std::to_string(shape[axis]));
    } else {
      dimension.set_dim_value(shape[axis]);
    }
  }
  return info;
}

onnx::TensorProto tensor_of_integers(DType dtype, const std::vector<std::int64_t>& extents,
                                     const std::vector<std::int64_t>& content) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx_type_of(dtype));
  for (std::int64_t extent : extents) tensor.add_dims(extent);
  const auto width = static_cast<std::size_t>(bits_of(dtype).value_or(8)) / 8;
  std::string& bytes = *tensor.mutable_raw_data();
  bytes.reserve(content.size() * width);
  for (std::int64_t one : content) {
    for (std::size_t byte = 0; byte < width; ++byte) {
      bytes += static_cast<char>(static_cast<std::uint64_t>(one) >> (8 * byte) & 0xFFU);
    }
  }
  return tensor;
}

onnx::TensorProto tensor_of_zeros(DType dtype, const std::vector<std::int64_t>& extents) {
  onnx::TensorProto tensor;
  tensor.set_data_type(onnx_type_of(dtype));
  for (std::int64_t extent : extents) tensor.add_dims(extent);
  const Result<Bytes> size = dense_size(dtype, Shape(extents));
  LOWTIDE_CHECK(size.ok(), "the tensor has a size");
  tensor.mutable_raw_data()->assign(static_cast<std::size_t>(size->count()), '\0');
  return tensor;
}

std::string utf8_name(std::string_view name, std::string_view otherwise) {
  std::string valid;
  while (!name.empty()) {
    const std::size_t length = utf8_length(name);
    valid += length == 0 ? std::string_view("_") : name.substr(0, length);
    name.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return valid.empty() ? std::string(otherwise) : valid;
}

}  // namespace lowtide::export_internal

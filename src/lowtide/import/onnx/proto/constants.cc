// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/constants.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/shape.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/proto/raw_range.h"
#include "lowtide/import/onnx/proto/tensor_data.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

using onnx::AttributeProto;

struct CheckedDims {
  std::vector<std::int64_t> dims;
  std::int64_t elements = 0;
};

// Checks type and dims against the limits before any data are used.
template <typename DimsField>
Result<CheckedDims> check_dims(const DimsField& dims, DType dtype) {
  if (dims.size() > limits::kMaxRank) {
    return Error{ErrorCode::over_limit,
                 "rank " + std::to_string(dims.size()) + " is above the limit of " + std::to_string(limits::kMaxRank) +
                     " (kMaxRank)",
                 ""};
  }
  CheckedDims extents;
  extents.dims.assign(dims.begin(), dims.end());
  const Shape shape(extents.dims);
  if (dtype != DType::string) LOWTIDE_RETURN_IF_ERROR(dense_size(dtype, shape));
  LOWTIDE_TRY(const std::int64_t elements, element_count(shape));
  extents.elements = elements;
  return extents;
}

void set_content(TensorFact& fact, const CheckedDims& extents, std::vector<KnownElement> elements) {
  auto content = std::make_shared<KnownContent>();
  content->dtype = *fact.known.dtype;
  content->extents = extents.dims;
  content->elements = std::move(elements);
  fact.known.content = std::move(content);
}

Result<TensorFact> fact_of_numbers(DType dtype, bool is_scalar, std::vector<KnownElement> elements,
                                   ContentBudget& budget) {
  CheckedDims extents;
  extents.elements = static_cast<std::int64_t>(elements.size());
  if (!is_scalar) extents.dims = {extents.elements};
  TensorFact fact = fact_of(dtype, extents.dims);
  const std::int64_t most = is_float(dtype) ? kMaxKnownFloats : limits::kMaxFoldedElements;
  if (dtype != DType::string && extents.elements <= most && budget.take(extents.elements)) {
    set_content(fact, extents, std::move(elements));
  }
  return fact;
}

Result<TensorFact> fact_from_value(const AttributeProto& value, ContentBudget& budget) {
  const std::string& name = value.name();
  std::vector<KnownElement> elements;
  if (name == "value") return fact_from_tensor(value.t(), budget);
  if (name == "sparse_value") return fact_from_sparse(value.sparse_tensor(), budget.file());
  if (name == "value_int") return fact_of_numbers(DType::i64, true, {exact_integer(value.i())}, budget);
  if (name == "value_float") return fact_of_numbers(DType::f32, true, {exact_real(value.f())}, budget);
  if (name == "value_ints") {
    if (value.ints_size() > limits::kMaxFoldedElements) return fact_of(DType::i64, {value.ints_size()});
    for (std::int64_t number : value.ints()) elements.push_back(exact_integer(number));
    return fact_of_numbers(DType::i64, false, std::move(elements), budget);
  }
  if (name == "value_floats") {
    if (value.floats_size() > kMaxKnownFloats) return fact_of(DType::f32, {value.floats_size()});
    for (float number : value.floats()) elements.push_back(exact_real(number));
    return fact_of_numbers(DType::f32, false, std::move(elements), budget);
  }
  if (name == "value_string") return fact_of(DType::string, {});
  if (name == "value_strings") return fact_of(DType::string, {value.strings_size()});
  return Error{ErrorCode::invalid, "a Constant has no attribute " + quoted(name), ""};
}

Error in_field(const char* field, const Error& error) { return Error{error.code, field + error.message, error.place}; }

// Checks that the indices of a sparse tensor are in range, sorted and distinct.
Result<void> check_indices(const std::vector<std::int64_t>& indices, std::int64_t rows, const CheckedDims& extents) {
  const std::int64_t width = rows == 0 ? 1 : static_cast<std::int64_t>(indices.size()) / rows;
  std::int64_t last = -1;
  for (std::int64_t row = 0; row < rows; ++row) {
    std::int64_t flat = 0;
    for (std::int64_t axis = 0; axis < width; ++axis) {
      const std::int64_t index = indices[static_cast<std::size_t>(row * width + axis)];
      const bool is_flat = width == 1 && extents.dims.size() != 1;
      const std::int64_t end = is_flat ? extents.elements : extents.dims[static_cast<std::size_t>(axis)];
      if (index < 0 || index >= end) {
        return Error{ErrorCode::invalid,
                     "index " + std::to_string(index) + " of entry " + std::to_string(row) + " is not in [0, " +
                         std::to_string(end) + ")",
                     ""};
      }
      flat = flat * end + index;  // below the number of elements, so it does not overflow
    }
    if (flat <= last) {
      return Error{
          ErrorCode::invalid,
          "entry " + std::to_string(row) + " does not follow the entry before it; indices must be sorted and distinct",
          ""};
    }
    last = flat;
  }
  return {};
}

}  // namespace

Result<TensorFact> fact_from_tensor(const onnx::TensorProto& tensor, ContentBudget& budget) {
  if (tensor.has_segment())
    return Error{ErrorCode::unsupported, "the tensor is stored in segments, which is not supported", ""};
  LOWTIDE_TRY(const DType dtype, dtype_from_onnx(tensor.data_type()));
  LOWTIDE_TRY(const CheckedDims extents, check_dims(tensor.dims(), dtype));
  LOWTIDE_RETURN_IF_ERROR(check_tensor_data(tensor, dtype, extents.elements));

  TensorFact fact = fact_of(dtype, extents.dims);
  const bool is_external = tensor.data_location() == onnx::TensorProto::EXTERNAL;
  const std::int64_t most = is_float(dtype) ? kMaxKnownFloats : limits::kMaxFoldedElements;
  const bool is_absent = is_external || (raw_range_of(tensor) && budget.file() == nullptr);
  if (!is_absent && is_readable(dtype) && extents.elements <= most && budget.take(extents.elements)) {
    LOWTIDE_TRY(const std::string raw, raw_data_of(tensor, budget.file()));
    set_content(fact, extents, read_elements(tensor, raw, dtype, extents.elements));
  }
  return fact;
}

Result<TensorFact> fact_from_sparse(const onnx::SparseTensorProto& tensor, const ByteSource* file) {
  ContentBudget no_content(-1);
  const Result<TensorFact> values = fact_from_tensor(tensor.values(), no_content);
  if (!values) return in_field("values: ", values.error());
  const Result<TensorFact> indices = fact_from_tensor(tensor.indices(), no_content);
  if (!indices) return in_field("indices: ", indices.error());
  LOWTIDE_TRY(const CheckedDims extents, check_dims(tensor.dims(), *values->known.dtype));

  const auto& value_dims = tensor.values().dims();
  const auto& index_dims = tensor.indices().dims();
  const bool is_flat = index_dims.size() == 1;
  const bool is_table = index_dims.size() == 2 && index_dims.Get(1) == tensor.dims_size();
  if (*indices->known.dtype != DType::i64 || value_dims.size() != 1 || (!is_flat && !is_table) ||
      index_dims.Get(0) != value_dims.Get(0)) {
    return Error{ErrorCode::invalid,
                 "values are " + describe(*values) + " and indices " + describe(*indices) +
                     "; they must be [n] and i64[n] or i64[n," + std::to_string(tensor.dims_size()) + "]",
                 ""};
  }
  const bool is_external = tensor.indices().data_location() == onnx::TensorProto::EXTERNAL;
  if (!is_external && (file != nullptr || !raw_range_of(tensor.indices()))) {
    LOWTIDE_TRY(const std::string raw, raw_data_of(tensor.indices(), file));
    const std::int64_t rows = index_dims.Get(0);
    const std::int64_t count = is_flat ? rows : rows * tensor.dims_size();
    LOWTIDE_RETURN_IF_ERROR(check_indices(read_i64(tensor.indices(), raw, count), rows, extents));
  }
  return fact_of(*values->known.dtype, extents.dims);
}

Result<TensorFact> fact_from_constant_node(const onnx::NodeProto& node, ContentBudget& budget) {
  if (node.attribute_size() != 1) {
    return Error{
        ErrorCode::invalid,
        "a Constant must have one attribute, its value, but this one has " + std::to_string(node.attribute_size()), ""};
  }
  Result<TensorFact> fact = fact_from_value(node.attribute(0), budget);
  if (!fact) return in_field(("attribute " + quoted(node.attribute(0).name()) + ": ").c_str(), fact.error());
  return fact;
}

}  // namespace lowtide::import_internal

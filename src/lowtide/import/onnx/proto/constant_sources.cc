// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/constant_sources.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "lowtide/base/flags.h"
#include "lowtide/base/try.h"
#include "lowtide/graph/shape.h"
#include "lowtide/import/onnx/proto/external_data.h"
#include "lowtide/import/onnx/proto/raw_range.h"
#include "lowtide/import/onnx/proto/tensor_data.h"

namespace lowtide::import_internal {
namespace {

constexpr ConstantFileId kModelFile{0};

bool is_external(const onnx::TensorProto& tensor) { return tensor.data_location() == onnx::TensorProto::EXTERNAL; }

// The shape of a constant, whose extents are exact.
Shape exact_shape_of(const TensorFact& fact) {
  std::vector<std::int64_t> extents;
  for (const KnownExtent& extent : *fact.known.extents) extents.push_back(extent.extent);
  return Shape(std::move(extents));
}

// The numbers that a Constant node has as an attribute.
std::vector<std::byte> bytes_of(const onnx::AttributeProto& value) {
  std::vector<std::byte> bytes;
  if (value.name() == "value_int") append_bits(bytes, static_cast<std::uint64_t>(value.i()), 8);
  if (value.name() == "value_float") append_bits(bytes, std::bit_cast<std::uint32_t>(value.f()), 4);
  for (std::int64_t number : value.ints()) append_bits(bytes, static_cast<std::uint64_t>(number), 8);
  for (float number : value.floats()) append_bits(bytes, std::bit_cast<std::uint32_t>(number), 4);
  return bytes;
}

// Copies each value to its position in the dense form. fact_from_sparse has checked the indices.
std::vector<std::byte> scatter(const onnx::SparseTensorProto& tensor, const std::vector<std::byte>& values,
                               const std::vector<std::int64_t>& indices, std::size_t dense_bytes) {
  std::vector<std::byte> dense(dense_bytes, std::byte{0});
  const auto rows = static_cast<std::size_t>(tensor.values().dims(0));
  if (rows == 0) return dense;
  const std::size_t element_bytes = values.size() / rows;
  const std::size_t width = indices.size() / rows;
  for (std::size_t row = 0; row < rows; ++row) {
    std::int64_t flat = indices[row * width];
    for (std::size_t axis = 1; axis < width; ++axis) {
      flat = flat * tensor.dims(static_cast<int>(axis)) + indices[row * width + axis];
    }
    std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(row * element_bytes), element_bytes,
                dense.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(flat) * element_bytes));
  }
  return dense;
}

}  // namespace

ConstantSources::ConstantSources(const ByteSource& file) : file_(file) { table_.files.push_back(""); }

Result<std::optional<ConstantId>> ConstantSources::add(const onnx::TensorProto& tensor, std::string_view name,
                                                       const TensorFact& fact) {
  if (const auto known = known_.find(&tensor); known != known_.end()) return known->second;
  if (fact.known.dtype == DType::string) return std::optional<ConstantId>();
  LOWTIDE_TRY(Bytes size, dense_size(*fact.known.dtype, exact_shape_of(fact)));
  LOWTIDE_TRY(Place place, place_of(tensor, *fact.known.dtype, size));
  return add_source(&tensor, name, fact, std::move(place));
}

Result<std::optional<ConstantId>> ConstantSources::add(const onnx::SparseTensorProto& tensor, std::string_view name,
                                                       const TensorFact& fact) {
  if (const auto known = known_.find(&tensor); known != known_.end()) return known->second;
  if (fact.known.dtype == DType::string) return std::optional<ConstantId>();
  LOWTIDE_TRY(Bytes size, dense_size(*fact.known.dtype, exact_shape_of(fact)));
  LOWTIDE_TRY(Place place, dense_form_of(tensor, *fact.known.dtype, size));
  return add_source(&tensor, name, fact, std::move(place));
}

Result<std::optional<ConstantId>> ConstantSources::add_value(const onnx::AttributeProto& value, std::string_view name,
                                                             const TensorFact& fact) {
  if (value.name() == "value") return add(value.t(), name, fact);
  if (value.name() == "sparse_value") return add(value.sparse_tensor(), name, fact);
  if (const auto known = known_.find(&value); known != known_.end()) return known->second;
  if (fact.known.dtype == DType::string) return std::optional<ConstantId>();
  return add_source(&value, name, fact, ConstantSource::Inline{bytes_of(value)});
}

std::optional<ConstantId> ConstantSources::add_source(const void* message, std::string_view name,
                                                      const TensorFact& fact, Place place) {
  std::optional<ConstantId>& id = known_[message];
  if (!place) return id;
  Shape shape = exact_shape_of(fact);
  const Bytes size = dense_size(*fact.known.dtype, shape).value();
  ConstantSource source{std::string(name), *fact.known.dtype, std::move(shape), size, *std::move(place)};
  id = table_.sources.push_back(std::move(source));
  return id;
}

Result<ConstantSources::Place> ConstantSources::place_of(const onnx::TensorProto& tensor, DType dtype, Bytes size) {
  if (is_external(tensor)) {
    LOWTIDE_TRY(ExternalPlace place, external_place_of(tensor, size.count()));
    return Place(ConstantSource::InFile{file_of(place.location), place.offset});
  }
  if (const std::optional<RawRange> range = raw_range_of(tensor)) {
    return Place(ConstantSource::InFile{kModelFile, range->offset});
  }
  return Place(ConstantSource::Inline{read_bytes(tensor, tensor.raw_data(), dtype)});
}

Result<ConstantSources::Place> ConstantSources::dense_form_of(const onnx::SparseTensorProto& tensor, DType dtype,
                                                              Bytes size) {
  if (is_external(tensor.values()) || is_external(tensor.indices()) || *bits_of(dtype) % 8 != 0 ||
      size.count() > sparse_bytes_left_) {
    return Place();
  }
  LOWTIDE_TRY(const std::string raw_values, raw_data_of(tensor.values(), &file_));
  LOWTIDE_TRY(const std::string raw_indices, raw_data_of(tensor.indices(), &file_));
  std::int64_t count = 1;
  for (std::int64_t extent : tensor.indices().dims()) count *= extent;
  sparse_bytes_left_ -= size.count();
  return Place(ConstantSource::Inline{scatter(tensor, read_bytes(tensor.values(), raw_values, dtype),
                                              read_i64(tensor.indices(), raw_indices, count),
                                              static_cast<std::size_t>(size.count()))});
}

ConstantFileId ConstantSources::file_of(const std::string& location) {
  const auto [entry, is_new] = file_ids_.try_emplace(location);
  if (is_new) entry->second = table_.files.push_back(location);
  return entry->second;
}

ConstantTable ConstantSources::take_used_by(const Graph& graph) && {
  Flags<ConstantId> is_used(table_.sources.size());
  std::vector<const Graph*> graphs = {&graph};
  while (!graphs.empty()) {
    const Graph& next = *graphs.back();
    graphs.pop_back();
    for (const Tensor& tensor : next.tensors()) {
      if (tensor.constant) is_used.set(*tensor.constant);
    }
    for (const Node& node : next.nodes()) {
      for (const Body& body : node.bodies) graphs.push_back(body.graph.get());
    }
  }
  for (ConstantId id : all_ids<ConstantId>(table_.sources.size())) {
    if (is_used.test(id)) continue;
    ConstantSource& source = table_.sources[id];
    source.shape = Shape({0});
    source.size = Bytes();
    source.where = ConstantSource::Inline();
  }
  return std::move(table_);
}

}  // namespace lowtide::import_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/import/file.h"
#include "lowtide/import/onnx/proto/onnx_headers.h"
#include "lowtide/import/onnx/proto/tensor_fact.h"

namespace lowtide::import_internal {

// Collects where the bytes of the constants of a model are.
//   raw data in the model file (raw_range.h)    a range of the model file
//   external data                               a range of another file, which is not opened
//   short raw data, lists of numbers            a copy
//   sparse tensors                              the dense form, as a copy
// A sparse tensor of a few bytes can stand for a dense one of any size. So the dense forms of a model may have
// kMostSparseBytes together. A larger one has no source, and neither has one with external data or elements below
// 8 bits.
class ConstantSources {
 public:
  static constexpr std::int64_t kMostSparseBytes = std::int64_t{64} << 20;

  // `file`: has the raw data that the parsed model lacks. It must outlive this object.
  explicit ConstantSources(const ByteSource& file);

  // Registers the constant with this name. `fact` is what constants.h returned for it. The body of a loop may be
  // visited several times, so a message that is known already returns the same id. Returns nullopt if the constant has
  // no source, or consists of strings. Errors: io.
  [[nodiscard]] Result<std::optional<ConstantId>> add(const onnx::TensorProto& tensor, std::string_view name,
                                                      const TensorFact& fact);
  [[nodiscard]] Result<std::optional<ConstantId>> add(const onnx::SparseTensorProto& tensor, std::string_view name,
                                                      const TensorFact& fact);
  // The same for the attribute of a Constant node.
  [[nodiscard]] Result<std::optional<ConstantId>> add_value(const onnx::AttributeProto& value, std::string_view name,
                                                            const TensorFact& fact);

  // Returns the table. A source that no tensor of the graph or its bodies uses, such as one of a branch that never
  // runs, becomes a constant without elements. O(sources + tensors).
  [[nodiscard]] ConstantTable take_used_by(const Graph& graph) &&;

 private:
  using Place = std::optional<decltype(ConstantSource::where)>;

  std::optional<ConstantId> add_source(const void* message, std::string_view name, const TensorFact& fact, Place place);
  Result<Place> place_of(const onnx::TensorProto& tensor, DType dtype, Bytes size);
  Result<Place> dense_form_of(const onnx::SparseTensorProto& tensor, DType dtype, Bytes size);
  ConstantFileId file_of(const std::string& location);

  const ByteSource& file_;
  ConstantTable table_;
  std::unordered_map<const void*, std::optional<ConstantId>> known_;  // by message
  std::map<std::string, ConstantFileId> file_ids_;
  std::int64_t sparse_bytes_left_ = kMostSparseBytes;
};

}  // namespace lowtide::import_internal

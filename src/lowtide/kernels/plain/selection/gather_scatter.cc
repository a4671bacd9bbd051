// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/selection/gather_scatter.h"

#include <algorithm>
#include <array>
#include <string>

#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/extents.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/strided_copy.h"
#include "lowtide/kernels/plain/selection/scatter_reduction.h"

namespace lowtide::kernels_internal {
namespace {

constexpr RunStatus kBadIndex{RunCode::index_out_of_range, 1};

// An index of i64 or i32.
std::int64_t index_at(const BoundTensor& indices, std::int64_t at) {
  return indices.dtype == DType::i64 ? elements<std::int64_t>(indices)[at] : elements<std::int32_t>(indices)[at];
}

// The index counted from the front, or nullopt if it is not in [-extent, extent).
std::optional<std::int64_t> index_in(std::int64_t index, std::int64_t extent) {
  if (index < -extent || index >= extent) return std::nullopt;
  return index < 0 ? index + extent : index;
}

struct IndexParameters {
  std::int64_t axis = 0;
  std::int64_t batch_axes = 0;
  Combine combine = nullptr;  // nullptr: updates replace elements
};

// Writes an update into the result.
void update(const IndexParameters& parameters, const std::byte* from, std::byte* to, std::int64_t count, int bytes) {
  if (parameters.combine == nullptr) {
    copy_bytes(from, to, count * bytes);
  } else {
    parameters.combine(from, to, count);
  }
}

RunStatus run_gather(const IndexParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const BoundTensor& indices = operands.reads[1];
  const Extents from(extents_of(read));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis || from.rank() - 1 + indices.rank > kMostAxes) return {RunCode::bad_extents, 0};
  Extents to(from.values().first(static_cast<std::size_t>(*axis)));
  for (std::int64_t extent : extents_of(indices)) to.push_back(extent);
  for (int later = *axis + 1; later < from.rank(); ++later) to.push_back(from[later]);
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const std::int64_t slice = from.product(*axis + 1, from.rank()) * element_bytes(read.dtype);
  std::byte* write = *result.bytes;
  for (std::int64_t outer = 0; outer < from.product(0, *axis); ++outer) {
    for (std::int64_t at = 0; at < count_of(indices); ++at, write += slice) {
      const std::optional<std::int64_t> index = index_in(index_at(indices, at), from[*axis]);
      if (!index) return kBadIndex;
      copy_bytes(*read.bytes + (outer * from[*axis] + *index) * slice, write, slice);
    }
  }
  return {};
}

// Calls visit(number of the index, offset in elements) for each index of an operand whose axes `extents` are not
// longer than those of `data`, except `axis`, which the index replaces. Stops at the first status that is not ok.
template <typename Visit>
RunStatus for_each_index(const BoundTensor& indices, const Extents& data, int axis, Visit visit) {
  const Extents extents(extents_of(indices));
  const Extents strides = dense_strides(data);
  Extents at = extents;
  for (int other = 0; other < at.rank(); ++other) at[other] = 0;
  for (std::int64_t number = 0; number < extents.count(); ++number) {
    const std::optional<std::int64_t> index = index_in(index_at(indices, number), data[axis]);
    if (!index) return kBadIndex;
    std::int64_t offset = *index * strides[axis];
    for (int other = 0; other < at.rank(); ++other) {
      if (other != axis) offset += at[other] * strides[other];
    }
    visit(number, offset);
    for (int other = at.rank() - 1; other >= 0 && ++at[other] == extents[other]; --other) at[other] = 0;
  }
  return {};
}

// Whether the operand of indices has the rank of the data, and other axes than `axis` are not longer.
bool fits_in(const BoundTensor& indices, const Extents& data, int axis) {
  if (indices.rank != data.rank()) return false;
  for (int other = 0; other < data.rank(); ++other) {
    if (other != axis && indices.extents[other] > data[other]) return false;
  }
  return true;
}

RunStatus run_gather_elements(const IndexParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const Extents from(extents_of(read));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  if (!axis || !fits_in(operands.reads[1], from, *axis)) return {RunCode::bad_extents, 1};
  const BoundTensor& result = operands.writes[0];
  const RunStatus status = set_extents(result, Extents(extents_of(operands.reads[1])));
  if (status.code != RunCode::ok) return status;
  const int bytes = element_bytes(read.dtype);
  return for_each_index(operands.reads[1], from, *axis, [&](std::int64_t number, std::int64_t offset) {
    copy_bytes(*read.bytes + offset * bytes, *result.bytes + number * bytes, bytes);
  });
}

RunStatus run_scatter_elements(const IndexParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& read = operands.reads[0];
  const BoundTensor& updates = operands.reads[2];
  const Extents from(extents_of(read));
  const std::optional<int> axis = axis_in(parameters.axis, from.rank());
  const bool agrees = axis && fits_in(operands.reads[1], from, *axis) &&
                      std::ranges::equal(extents_of(operands.reads[1]), extents_of(updates));
  if (!agrees) return {RunCode::bad_extents, 1};
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, from); status.code != RunCode::ok) return status;
  const int bytes = element_bytes(read.dtype);
  copy_bytes(*read.bytes, *result.bytes, from.count() * bytes);
  return for_each_index(operands.reads[1], from, *axis, [&](std::int64_t number, std::int64_t offset) {
    update(parameters, *updates.bytes + number * bytes, *result.bytes + offset * bytes, 1, bytes);
  });
}

// What GatherND and ScatterND share: each tuple of indices names a slice of the data.
struct Tuples {
  Extents data;
  int batch_axes = 0;
  std::int64_t tuples = 0;     // in all batches
  std::int64_t length = 0;     // of a tuple
  std::int64_t slice = 0;      // elements
  std::int64_t per_batch = 0;  // tuples

  // Where the slice of a tuple begins, in elements. nullopt: an index is out of range.
  [[nodiscard]] std::optional<std::int64_t> offset(const BoundTensor& indices, std::int64_t tuple) const {
    std::int64_t offset = per_batch == 0 ? 0 : tuple / per_batch;
    for (std::int64_t at = 0; at < length; ++at) {
      const std::int64_t extent = data[batch_axes + static_cast<int>(at)];
      const std::optional<std::int64_t> index = index_in(index_at(indices, tuple * length + at), extent);
      if (!index) return std::nullopt;
      offset = offset * extent + *index;
    }
    return offset * slice;
  }
};

std::optional<Tuples> tuples_of(const BoundTensor& data, const BoundTensor& indices, std::int64_t batch_axes) {
  const Extents of_data(extents_of(data));
  const Extents of_indices(extents_of(indices));
  const bool has_batches = batch_axes >= 0 && batch_axes < of_indices.rank() && batch_axes <= of_data.rank();
  if (!has_batches) return std::nullopt;
  const int batch = static_cast<int>(batch_axes);
  const int last = of_indices.rank() - 1;
  const std::int64_t length = of_indices[last];
  if (length > of_data.rank() - batch) return std::nullopt;
  for (int axis = 0; axis < batch; ++axis) {
    if (of_data[axis] != of_indices[axis]) return std::nullopt;
  }
  return Tuples{.data = of_data,
                .batch_axes = batch,
                .tuples = of_indices.product(0, last),
                .length = length,
                .slice = of_data.product(batch + static_cast<int>(length), of_data.rank()),
                .per_batch = of_indices.product(batch, last)};
}

RunStatus run_gather_nd(const IndexParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& indices = operands.reads[1];
  const std::optional<Tuples> tuples = tuples_of(operands.reads[0], indices, parameters.batch_axes);
  if (!tuples) return {RunCode::bad_extents, 1};
  Extents to(extents_of(indices).first(static_cast<std::size_t>(indices.rank - 1)));
  for (int axis = tuples->batch_axes + static_cast<int>(tuples->length); axis < tuples->data.rank(); ++axis) {
    if (to.is_full()) return {RunCode::bad_extents, 0};
    to.push_back(tuples->data[axis]);
  }
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, to); status.code != RunCode::ok) return status;
  const int bytes = element_bytes(result.dtype);
  for (std::int64_t tuple = 0; tuple < tuples->tuples; ++tuple) {
    const std::optional<std::int64_t> offset = tuples->offset(indices, tuple);
    if (!offset) return kBadIndex;
    copy_bytes(*operands.reads[0].bytes + *offset * bytes, *result.bytes + tuple * tuples->slice * bytes,
               tuples->slice * bytes);
  }
  return {};
}

RunStatus run_scatter_nd(const IndexParameters& parameters, const Operands& operands, Team& /*team*/) {
  const BoundTensor& indices = operands.reads[1];
  const BoundTensor& updates = operands.reads[2];
  const std::optional<Tuples> tuples = tuples_of(operands.reads[0], indices, 0);
  if (!tuples || count_of(updates) != tuples->tuples * tuples->slice) return {RunCode::bad_extents, 1};
  const BoundTensor& result = operands.writes[0];
  if (const RunStatus status = set_extents(result, tuples->data); status.code != RunCode::ok) return status;
  const int bytes = element_bytes(result.dtype);
  copy_bytes(*operands.reads[0].bytes, *result.bytes, tuples->data.count() * bytes);
  for (std::int64_t tuple = 0; tuple < tuples->tuples; ++tuple) {
    const std::optional<std::int64_t> offset = tuples->offset(indices, tuple);
    if (!offset) return kBadIndex;
    update(parameters, *updates.bytes + tuple * tuples->slice * bytes, *result.bytes + *offset * bytes, tuples->slice,
           bytes);
  }
  return {};
}

std::string missing_index(const Graph& graph, const Node& node) {
  const DType dtype = graph.tensor(*node.inputs[1]).dtype;
  if (dtype != DType::i64 && dtype != DType::i32) return "the indices are not i64 or i32";
  const DType data = graph.tensor(*node.inputs[0]).dtype;
  const std::string reduction = text_attribute(node, "reduction", "none");
  if (reduction != "none" && combine_of(reduction, data) == nullptr) {
    return "no kernel has reduction '" + reduction + "' of this type";
  }
  const bool is_equal = graph.tensor(*node.outputs[0]).dtype == data &&
                        (node.inputs.size() < 3 || !node.inputs[2] || graph.tensor(*node.inputs[2]).dtype == data);
  return is_equal ? "" : "the data and the result have different types";
}

template <PlainRun<IndexParameters> run>
PreparedResult prepare_index(const PrepareInput& input) {
  return plain_kernel(
      input, run,
      IndexParameters{integer_attribute(node_of(input), "axis", 0), integer_attribute(node_of(input), "batch_dims", 0),
                      combine_of(text_attribute(node_of(input), "reduction", "none"),
                                 input.graph.tensor(*node_of(input).inputs[0]).dtype)});
}

// Sorted by type. Scatter is the older name of ScatterElements.
constexpr std::array kIndexTable{
    PlainOperator{
        .op = on_moved("Gather"), .operands = 2, .prepare = &prepare_index<&run_gather>, .missing = &missing_index},
    PlainOperator{.op = on_moved("GatherElements"),
                  .operands = 2,
                  .prepare = &prepare_index<&run_gather_elements>,
                  .missing = &missing_index},
    PlainOperator{.op = on_moved("GatherND"),
                  .operands = 2,
                  .prepare = &prepare_index<&run_gather_nd>,
                  .missing = &missing_index},
    PlainOperator{.op = on_moved("Scatter"),
                  .operands = 3,
                  .prepare = &prepare_index<&run_scatter_elements>,
                  .missing = &missing_index},
    PlainOperator{.op = on_moved("ScatterElements"),
                  .operands = 3,
                  .prepare = &prepare_index<&run_scatter_elements>,
                  .missing = &missing_index},
    PlainOperator{.op = on_moved("ScatterND"),
                  .operands = 3,
                  .prepare = &prepare_index<&run_scatter_nd>,
                  .missing = &missing_index},
};
constexpr std::array kIndexOperators = operators_of(kIndexTable);

}  // namespace

Family gather_scatter_family() {
  return {.name = "index",
          .operators = kIndexOperators,
          .offer = [](const OfferInput& input) { return offer_from(kIndexTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kIndexTable, input); }};
}

}  // namespace lowtide::kernels_internal

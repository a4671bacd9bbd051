// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/plain_family.h"

#include <algorithm>

#include "lowtide/base/article.h"
#include "lowtide/base/check.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/kernels/common/half_kernel.h"

namespace lowtide::kernels_internal {
namespace {

const PlainOperator& row_of(std::span<const PlainOperator> table, const Operator& op) {
  const std::string_view domain = op.domain == "ai.onnx" ? std::string_view() : std::string_view(op.domain);
  const auto is_row = [&](const PlainOperator& row) { return row.op.type == op.type && row.op.domain == domain; };
  const auto found = std::ranges::find_if(table, is_row);
  LOWTIDE_CHECK(found != table.end(), "the family has the operator");
  return *found;
}

// A kernel that computes f64 takes no other real numbers beside it.
bool mixes_f64(const Graph& graph, const Node& node) {
  bool has_f64 = false;
  bool has_others = false;
  for (const auto* list : {&node.inputs, &node.outputs}) {
    for (const std::optional<TensorId>& id : *list) {
      const bool is_f64 = id && graph.tensor(*id).dtype == DType::f64;
      has_f64 |= is_f64;
      has_others |= id && !is_f64 && is_real(graph.tensor(*id).dtype);
    }
  }
  return has_f64 && has_others;
}

}  // namespace

Offer offer_from(std::span<const PlainOperator> table, const OfferInput& input) {
  const Graph& graph = input.graph;
  const PlainOperator& row = row_of(table, graph.op(input.node));
  const Node& of = graph.node(input.node);
  const auto is_omitted = [](const std::optional<TensorId>& id) { return !id.has_value(); };
  const auto present = static_cast<std::size_t>(std::ranges::find_if(of.inputs, is_omitted) - of.inputs.begin());
  const bool has_any = std::ranges::any_of(of.outputs, [](const auto& id) { return id.has_value(); });
  const bool has_result = has_any && (of.outputs[0] || row.may_omit_result);
  if (present < row.operands || !has_result) {
    return {{}, "the kernel needs " + with_count(static_cast<std::int64_t>(row.operands), "operand") + " and a result"};
  }
  std::string missing = row.missing == nullptr ? "" : row.missing(graph, of);
  if (!missing.empty()) return {{}, std::move(missing)};
  if (row.op.domain.empty() && !row.copies_others && !row.mixes_reals && mixes_f64(graph, of)) {
    return {{}, "it has operands of f64 and of other real numbers"};
  }
  Offer offer = offer_plain(input, row.op, row.copies_others);
  if (offer.kernels.empty()) return offer;
  if (row.scratch != nullptr) offer.kernels.front().scratch = row.scratch(graph, of, input.threads);
  if (row.widens_half) offer.kernels.front().scratch = scratch_with_floats(graph, of, offer.kernels.front().scratch);
  return offer;
}

PreparedResult prepare_from(std::span<const PlainOperator> table, const PrepareInput& input) {
  const PlainOperator& row = row_of(table, input.graph.op(input.node));
  PreparedResult prepared = row.prepare(input);
  if (!prepared || !row.widens_half) return prepared;
  const Node& node = node_of(input);
  const Bytes own = row.scratch == nullptr ? Bytes(0) : row.scratch(input.graph, node, input.threads);
  return widened(input.graph, node, own, *std::move(prepared));
}

}  // namespace lowtide::kernels_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/extents/check_extents.h"

#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/kernels/extents/rules.h"

namespace lowtide::kernels_internal {
namespace {

// Whether a tensor may have the extents. One that the graph only bounds may be smaller in a run.
bool may_have(const Shape& declared, const KnownExtents& given) {
  if (std::cmp_not_equal(declared.rank(), given.size())) return false;
  for (int axis = 0; axis < declared.rank(); ++axis) {
    const KnownExtent& extent = given[static_cast<std::size_t>(axis)];
    if (!extent) continue;
    if (declared.is_at_most(axis) ? declared[axis] < *extent : declared[axis] != *extent) return false;
  }
  return true;
}

bool may_have_count(const Shape& declared, const KnownExtent& count) {
  if (!count) return true;
  const std::int64_t elements = element_count(declared).value();  // a graph has no others
  return declared.has_upper_bounds() ? elements >= *count : elements == *count;
}

std::string declared_otherwise(const Tensor& result, const std::string& given) {
  return "result " + quoted(result.name) + " is declared as " + print_tensor_type(result.dtype, result.shape) +
         ", and the operator gives " + given;
}

}  // namespace

std::string contradiction_of_extents(const Graph& graph, NodeId node, const ConstantBytes& constant) {
  const OperatorRule* row = rule_of(graph.op(node));
  if (row == nullptr) return "";
  const NodeFacts facts(graph, node, constant);
  for (std::size_t input = 0; input < row->operands; ++input) {
    if (!facts.has(input)) return "it has no operand " + std::to_string(input);
  }
  const Expected expected = row->rule(facts);
  if (!expected.fault.empty()) return expected.fault;
  const std::vector<std::optional<TensorId>>& outputs = facts.node().outputs;
  for (std::size_t at = 0; at < outputs.size() && at < expected.results.size(); ++at) {
    if (!outputs[at] || !expected.results[at]) continue;
    const Tensor& result = graph.tensor(*outputs[at]);
    if (!may_have(result.shape, *expected.results[at]))
      return declared_otherwise(result, to_text(*expected.results[at]));
  }
  if (outputs.size() > 1 && outputs[1] && expected.second_dtype) {
    const Tensor& second = graph.tensor(*outputs[1]);
    if (second.dtype != *expected.second_dtype)
      return declared_otherwise(second, std::string(to_string(*expected.second_dtype)));
  }
  if (outputs.empty() || !outputs[0]) return "";
  const Tensor& first = graph.tensor(*outputs[0]);
  if (expected.dtype && first.dtype != *expected.dtype)
    return declared_otherwise(first, std::string(to_string(*expected.dtype)));
  if (!may_have_count(first.shape, expected.count))
    return declared_otherwise(first, std::to_string(*expected.count) + " elements");
  return "";
}

}  // namespace lowtide::kernels_internal

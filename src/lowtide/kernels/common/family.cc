// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/common/family.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/operand_types.h"
#include "lowtide/target/target.h"

namespace lowtide::kernels_internal {
namespace {

// Returns "" if the row has the type of the tensor, otherwise the reason.
std::string missing_type(const SupportedOperator& row, const Tensor& tensor, std::string_view what) {
  if (std::find(row.dtypes.begin(), row.dtypes.end(), tensor.dtype) != row.dtypes.end()) return "";
  std::vector<std::string_view> names;
  for (DType dtype : row.dtypes) names.push_back(to_string(dtype));
  return std::string(what) + " " + quoted(tensor.name) + " is " + std::string(to_string(tensor.dtype)) +
         ", and kernels have " + listed(names, "or");
}

// The same for an operand or result behind the first one. A kernel that computes f32 takes no other real numbers than
// its first operand may have.
std::string missing_real_type(const SupportedOperator& row, const Tensor& tensor, std::string_view what) {
  const bool computes_reals = std::ranges::count(row.dtypes, DType::f32) > 0;
  return computes_reals && is_real(tensor.dtype) ? missing_type(row, tensor, what) : "";
}

std::optional<TensorId> first_present(const std::vector<std::optional<TensorId>>& tensors) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [](const auto& tensor) { return tensor.has_value(); });
  return found == tensors.end() ? std::nullopt : *found;
}

}  // namespace

Offer offer_plain(const OfferInput& input, const SupportedOperator& row, bool takes_any_others) {
  const Graph& graph = input.graph;
  const Node& of = graph.node(input.node);
  for (const auto* list : {&of.inputs, &of.outputs}) {
    for (const std::optional<TensorId>& id : *list) {
      if (!id) continue;
      std::string missing = missing_real_type(row, graph.tensor(*id), list == &of.inputs ? "input" : "output");
      if (!takes_any_others && !missing.empty()) return {{}, std::move(missing)};
      if (graph.tensor(*id).shape.rank() <= kMostAxes) continue;
      return {{},
              quoted(graph.tensor(*id).name) + " has " + std::to_string(graph.tensor(*id).shape.rank()) +
                  " axes, and kernels have at most " + std::to_string(kMostAxes)};
    }
  }
  const std::optional<TensorId> operand = first_present(of.inputs);
  const std::optional<TensorId> result = first_present(of.outputs);
  if (operand || result) {
    Offer none;
    none.missing = missing_type(row, graph.tensor(operand ? *operand : *result), operand ? "input" : "output");
    if (!none.missing.empty()) return none;
  }
  Offer offer{dense_catalogue()->kernels(graph, input.node), ""};
  offer.kernels.front().name = "plain";
  offer.kernels.front().is_memory_known = true;
  return offer;
}

}  // namespace lowtide::kernels_internal

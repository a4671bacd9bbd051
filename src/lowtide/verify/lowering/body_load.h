// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "lowtide/base/id.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/constant_table.h"
#include "lowtide/graph/graph.h"

namespace lowtide::verify_internal {

// The tensors of the load-time work of a model, by name.
class LoadNames {
 public:
  // O(tensors). Requires: `load` outlives the object.
  explicit LoadNames(const Graph& load);

  [[nodiscard]] const Graph& graph() const { return load_; }
  [[nodiscard]] std::optional<TensorId> find(std::string_view name) const;

 private:
  const Graph& load_;
  std::unordered_map<std::string_view, TensorId> by_name_;
};

// The number of constants of a model. Results of load-time work may have entries behind them. nullopt: no table.
// O(constants).
[[nodiscard]] std::optional<std::uint32_t> constants_of_model(const ConstantTable* table);

// What tensors of a body are in the load-time work of the whole model.
struct BodyTensors {
  const Graph& before;                     // the body in the model
  const Graph& after;                      // the lowered body
  IdVector<TensorId, std::string> names;   // of the tensors of `before` in the load-time work
  std::string prefix;                      // of the names of the tensors that only the body has
  std::optional<std::uint32_t> constants;  // the number of constants of the model, if it is known
};

// The part of the load-time work that computes tensors of a body or constants of the lowered body, with their names in
// the body. Errors: those of GraphBuilder. O((tensors of the body + edges of the part) log nodes).
[[nodiscard]] Result<Graph> load_of_body(const LoadNames& load, const BodyTensors& tensors);

}  // namespace lowtide::verify_internal

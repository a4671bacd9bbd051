// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lowtide/tflite/flatbuffer/tflite_model.h"

// What operators use besides their tensors: variables and resources, which no tensor shows as a dependency.
namespace lowtide::model_import_internal {

// Something with a content that lasts longer than one operator.
struct Use {
  std::string what;  // identifies it in the model; kAnyResource: it is not known which resource
  bool writes = false;
  friend auto operator<=>(const Use&, const Use&) = default;
};
inline constexpr char kAnyResource[] = "";

// The uses of each operator of each subgraph, sorted. Those of a subgraph belong to the operators that run it.
class ResourceUses {
 public:
  explicit ResourceUses(const TfliteModel& model);
  // For each operator of a subgraph, those before it that must have run, ascending.
  [[nodiscard]] std::vector<std::vector<std::uint32_t>> order_of(std::uint32_t subgraph) const;

 private:
  std::vector<std::vector<std::vector<Use>>> uses_;  // by subgraph and operator
};

// The subgraphs that the first one runs, directly or through others, and the first one. Each comes after those that it
// runs.
[[nodiscard]] std::vector<std::uint32_t> subgraphs_bottom_up(const TfliteModel& model);

}  // namespace lowtide::model_import_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "lowtide/import/onnx/proto/onnx_headers.h"

namespace lowtide::import_internal {

// Makes names that no tensor of a model has.
class FreshNames {
 public:
  // Takes the names of a graph and of its bodies. Recursion only over bodies.
  void reserve_all(const onnx::GraphProto& graph);

  // `wanted`, or the first of wanted_2, wanted_3, ... that is free.
  [[nodiscard]] std::string make(const std::string& wanted);

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::int64_t> next_;
};

}  // namespace lowtide::import_internal

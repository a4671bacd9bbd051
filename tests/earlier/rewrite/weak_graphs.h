// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "lowtide/earlier/graphdef/node_list.h"
#include "lowtide/earlier/grappler/cluster.h"
#include "lowtide/earlier/grappler/grappler.h"
#include "lowtide/earlier/rewrite/lean_graphdef.h"

// Small graphs in which Grappler falls short, and the figures of both planners.
namespace lowtide::testing {

inline constexpr std::int64_t kTensor = 1'000'000;  // bytes of each tensor: 500 x 500 f32

[[nodiscard]] Cluster gpu_with(std::int64_t memory);

// On the GPU, of f32. A variable is 500 x 500.
[[nodiscard]] DefNode matrix_node(std::string name, std::string op, std::vector<std::string> inputs = {});

// Live bytes in tensors, microseconds, and nodes that run again.
struct Figures {
  double tensors = 0;
  std::int64_t microseconds = 0;
  std::size_t reruns = 0;

  friend bool operator==(const Figures&, const Figures&) = default;
  friend void PrintTo(const Figures& one, std::ostream* out) {
    *out << one.tensors << " tensors, " << one.microseconds << " us, " << one.reruns << " reruns";
  }
};

// Lowtide's plan; the last node is fetched.
[[nodiscard]] LeanGraphDef planned(const std::vector<DefNode>& nodes, std::int64_t memory,
                                   std::optional<TransferLink> link = std::nullopt);
[[nodiscard]] Figures figures_of(const LeanGraphDef& lean);

// What Grappler makes; the last node is fetched.
[[nodiscard]] GrapplerResult rewritten(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory);

// The figures of Grappler's graph, in the order with the fewest live bytes, which Grappler does not look for.
[[nodiscard]] Figures grappler_figures(const std::vector<DefNode>& nodes, GrapplerLevel level, std::int64_t memory);

// Forward nodes f0, f1, ..., each of the one before, and gradients g<n>, ..., g0, each of the one before and of f<i>.
[[nodiscard]] std::vector<DefNode> chain(std::size_t count, const std::string& op);

}  // namespace lowtide::testing

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lowtide/graph/builder.h"
#include "lowtide/graph/graph.h"
#include "lowtide/plan/plan.h"
#include "lowtide/verify/verify.h"

// Graphs and plans short enough to read in a test. Elements are bytes (u8) unless said otherwise, so a tensor of shape
// {16} has 16 bytes; the one region has alignment 16.
namespace lowtide::testing {

class GraphMaker {
 public:
  explicit GraphMaker(const std::string& name = "small") : builder_(name) {}

  TensorId input(const std::string& name, std::vector<std::int64_t> extents, DType dtype = DType::u8);
  TensorId constant(const std::string& name, std::vector<std::int64_t> extents, DType dtype = DType::u8);
  // Content known before the run: shape {number of integers}, i64.
  TensorId integers(const std::string& name, std::vector<std::int64_t> content);
  TensorId tensor(const std::string& name, std::vector<std::int64_t> extents, DType dtype = DType::u8);
  TensorId bounded(const std::string& name, std::vector<std::int64_t> extents, int bounded_axis);
  // In a body: a tensor of the graph around it.
  TensorId captured(const std::string& name, std::vector<std::int64_t> extents, Role role = Role::input,
                    DType dtype = DType::u8);
  NodeId node(const std::string& type, std::vector<std::optional<TensorId>> inputs,
              std::vector<std::optional<TensorId>> outputs, std::vector<Attribute> attributes = {},
              std::vector<Body> bodies = {}, std::vector<NodeId> control_inputs = {});
  // Throws if the graph is not valid.
  Graph make(std::vector<TensorId> outputs);

 private:
  TensorId add(const std::string& name, Shape shape, DType dtype, Role role, bool is_captured = false);
  GraphBuilder builder_;
};

// Steps run in the order of the calls; each call states where everything is. `finish` fills in claims and provenance.
class PlanMaker {
 public:
  // Every input, constant and state gets a buffer of its own (placed by `input_at` in a body).
  explicit PlanMaker(const Graph& graph, bool is_body = false, std::int64_t alignment = 16);

  BufferId buffer(BufferKind kind, std::int64_t size, std::int64_t offset, std::uint32_t begin, std::uint32_t end);
  void input_at(TensorId input, std::int64_t offset, std::uint32_t end);
  // Where the node that writes the tensor will put it.
  ValueId put(TensorId tensor, BufferId buffer, std::int64_t offset = 0);
  StepId compute(NodeId node, std::optional<BufferId> scratch = std::nullopt, std::vector<BodyPlan> bodies = {});
  StepId alias(NodeId node);

  // The buffer of an input, constant or state.
  [[nodiscard]] BufferId buffer_of(TensorId tensor) const;
  [[nodiscard]] ValueId value_of(TensorId tensor) const;
  [[nodiscard]] Plan finish();

 private:
  StepId add_step(NodeId node, StepKind kind, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies);
  const Graph& graph_;
  Plan plan_;
};

[[nodiscard]] Attribute integer(const std::string& name, std::int64_t value);
[[nodiscard]] Attribute integers(const std::string& name, std::vector<std::int64_t> values);

// Makes arena, claims and provenance true for a plan, in the plainest way: O(steps x buffers). The bound is 0.
void make_honest(const Graph& graph, Plan& plan);

// "clobbered; output_lost", in the order found: what most tests compare.
[[nodiscard]] std::string kinds(const std::vector<Violation>& violations);
// All messages, one a line, for failures.
[[nodiscard]] std::string messages(const std::vector<Violation>& violations);

}  // namespace lowtide::testing

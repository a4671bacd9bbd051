// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
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
  TensorId state(const std::string& name, std::vector<std::int64_t> extents, DType dtype = DType::u8);
  // After a run the state holds what `next` holds.
  void update(TensorId state, TensorId next) { builder_.add_state_update(state, next); }
  // Content known before the run: shape {number of integers}, i64.
  TensorId integers(const std::string& name, std::vector<std::int64_t> content);
  TensorId tensor(const std::string& name, std::vector<std::int64_t> extents, DType dtype = DType::u8);
  TensorId bounded(const std::string& name, std::vector<std::int64_t> extents, int bounded_axis);
  // In a body: a tensor of the outer graph.
  TensorId captured(const std::string& name, std::vector<std::int64_t> extents, Role role = Role::input,
                    DType dtype = DType::u8);
  NodeId node(const std::string& type, std::vector<std::optional<TensorId>> inputs,
              std::vector<std::optional<TensorId>> outputs, std::vector<Attribute> attributes = {},
              std::vector<Body> bodies = {});
  // Adds a tensor and the node that computes it. Returns the tensor.
  TensorId result(const std::string& name, std::vector<std::int64_t> extents, const std::string& type,
                  std::vector<std::optional<TensorId>> inputs, std::vector<Attribute> attributes = {});
  // For nodes with control inputs.
  NodeId node(GraphBuilder::NodeSpec spec) { return builder_.add_node(std::move(spec)); }
  // Throws if the graph is not valid.
  Graph make(std::vector<TensorId> outputs);

 private:
  TensorId add(const std::string& name, Shape shape, DType dtype, Role role, bool is_captured = false);
  GraphBuilder builder_;
};

//   x -> a = Relu -> c = Neg ---.
//    `-> b = Sigmoid -> d = Neg -+-> y = Add          the nodes in the order a b c d y, 16 bytes each
[[nodiscard]] Graph diamond();

// Steps run in the order of the calls; each call states where everything is. A step reads the latest value of each
// operand, unless `reads` names others. `finish` fills in claims, provenance, outputs (the latest value of each) and
// updates (the value of `next` in the state's buffer).
class PlanMaker {
 public:
  // Every input, constant and state gets a buffer of its own (placed by `input_at` in a body). Region 0 is "arena",
  // worker 0 addresses all regions, stream 0 is its stream.
  explicit PlanMaker(const Graph& graph, bool is_body = false, std::int64_t alignment = 16);

  RegionId region(const std::string& name, std::int64_t alignment = 16);
  // The worker addresses only these regions.
  void address_only(std::vector<RegionId> regions);
  // A stream of its own for a new link, or for worker 0.
  StreamId link_stream(RegionId from, RegionId to);
  StreamId worker_stream();

  BufferId buffer(BufferKind kind, std::int64_t size, std::int64_t offset, std::uint32_t begin, std::uint32_t end);
  // Puts a buffer into another region. Returns the buffer.
  BufferId in_region(RegionId region, BufferId buffer);
  void input_at(TensorId input, std::int64_t offset, std::uint32_t end);
  // The region that holds an input, constant or state.
  void home(TensorId tensor, RegionId region);
  // States where the next step that writes the tensor puts it. Each call adds a value.
  ValueId put(TensorId tensor, BufferId buffer, std::int64_t offset = 0);
  StepId compute(NodeId node, std::optional<BufferId> scratch = std::nullopt, std::vector<BodyPlan> bodies = {});
  StepId alias(NodeId node);
  // Runs all nodes in the order of their ids. Nodes in `aliases` become alias steps, and the others compute.
  void run_in_order(const std::vector<NodeId>& aliases = {});
  // Copies all bytes of `from`, or some, to the same bytes of `to`.
  StepId copy(ValueId from, ValueId to, std::optional<Interval<std::int64_t>> bytes = std::nullopt);
  // Makes the last step read this value for the operand at this position.
  void read(std::size_t operand, ValueId value);
  // Puts the last step on a stream, with these waits.
  void on(StreamId stream, std::vector<StepId> after = {});

  // The buffer of an input, constant or state.
  [[nodiscard]] BufferId buffer_of(TensorId tensor) const;
  // The latest value of the tensor.
  [[nodiscard]] ValueId value_of(TensorId tensor) const;
  [[nodiscard]] Plan finish();

 private:
  StepId add_step(NodeId node, Work work, std::optional<BufferId> scratch, std::vector<BodyPlan> bodies);
  ValueId add_value(TensorId tensor, BufferId buffer, std::int64_t offset);
  const Graph& graph_;
  Plan plan_;
};

[[nodiscard]] Attribute integer(const std::string& name, std::int64_t value);
[[nodiscard]] Attribute integers(const std::string& name, std::vector<std::int64_t> values);

// Makes arena, claims and provenance of a plan true, in the simplest way: O(steps x buffers). The bound is 0.
void make_honest(const Graph& graph, Plan& plan);

// "clobbered; output_lost", in the order found: what most tests compare.
[[nodiscard]] std::string kinds(const std::vector<Violation>& violations);
// All messages, one per line, for failures.
[[nodiscard]] std::string messages(const std::vector<Violation>& violations);

}  // namespace lowtide::testing

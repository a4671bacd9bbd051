// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "lowtide/runtime/execute/addresses.h"
#include "lowtide/runtime/execute/run_control.h"
#include "lowtide/runtime/execute/side_by_side.h"
#include "lowtide/runtime/prepare/prepared.h"

namespace lowtide::runtime_internal {

class GraphTables;

// One action of a run.
struct Row {
  RunStatus (*run)(BoundKernel* self, Team& team) = nullptr;
  BoundKernel* kernel = nullptr;
  StepId step;
};

// A bound action that this room implements.
struct OwnKernel : BoundKernel {
  OwnKernel() = default;
  OwnKernel(const OwnKernel&) = delete;
  OwnKernel& operator=(const OwnKernel&) = delete;
  virtual ~OwnKernel() = default;
};

// The tables of the graphs of a session. A body comes after the graph around it.
using AllTables = std::vector<std::unique_ptr<GraphTables>>;

// The addresses and bound kernels of one graph in one session. Kernels refer to the cells and extents, so the object
// stays where it is.
class GraphTables {
 public:
  // Finds all addresses. The arguments must outlive this object. Throws std::bad_alloc.
  GraphTables(const Prepared& prepared, PreparedGraphId id, const Addresses& addresses, RunControl& control);
  GraphTables(const GraphTables&) = delete;
  GraphTables& operator=(const GraphTables&) = delete;
  ~GraphTables();

  // Append an action. Throw std::bad_alloc.
  void add(const KernelAction& action, const Addresses& addresses);
  void add(StepId step, std::unique_ptr<OwnKernel> kernel);

  // Runs all actions, with the team or side by side (ActionOrder). Returns the status of the first action of the list
  // that does not succeed. Allocates nothing.
  RunStatus run(Team& team) noexcept;
  // Runs one action.
  RunStatus run_action(std::size_t at, Team& team) noexcept;
  // Runs each action once. Their status does not matter, so a kernel may refuse its operands.
  void touch(Team& team) noexcept;
  // Takes addresses and extents of the captured tensors from the graph around this one.
  void take_captures(GraphTables& around);

  [[nodiscard]] const PreparedGraph& graph() const { return graph_; }
  [[nodiscard]] std::byte* address(ValueId value) const { return cells_[value]; }
  [[nodiscard]] std::span<const std::int64_t> extents(TensorId tensor) const;
  // A value as kernels see it. Valid as long as this object.
  [[nodiscard]] BoundTensor bound(ValueId value);

  // The memory of an input or state; nullptr for an input without memory. Ignores tensors that nothing uses.
  [[nodiscard]] std::byte* base(TensorId tensor) const;
  void set_base(TensorId tensor, std::byte* address);
  // The same for bytes that a run only reads (verify). Kernels add offsets to an address, which C++ does not allow with
  // nullptr, so empty bytes without an address get one. Returns the address.
  const std::byte* set_input(TensorId tensor, std::span<const std::byte> bytes);
  // Requires: the tensor is dynamic, and the extents do not exceed its upper bounds.
  void set_extents(TensorId tensor, std::span<const std::int64_t> extents);
  // The most bytes that each of PreparedGraph::dynamic_tensors had at the end of a run of this graph.
  [[nodiscard]] const std::vector<std::int64_t>& seen_bytes() const { return seen_bytes_; }
  // The step that did not succeed in the last run; nullopt: all did.
  [[nodiscard]] const std::optional<StepId>& failed() const { return failed_; }
  void forget_failure() { failed_.reset(); }
  // Forgets sizes and failures.
  void forget_runs();

 private:
  void find_extents();
  void find_addresses(const Addresses& addresses);
  void note_rebind(ValueId value, BoundKernel* kernel);
  void note_sizes();
  RunStatus run_in_order(Interval<std::size_t> actions, Team& team) noexcept;
  // Kernels for one thread run alone, although the team has a thread for copies.
  [[nodiscard]] Team& kernel_team(Team& team) { return kernel_threads_ == 1 ? alone_ : team; }

  const PreparedGraph& graph_;
  const PreparedGraphId id_;
  const int kernel_threads_;
  SoloTeam alone_;
  RunControl& control_;
  std::vector<std::int64_t> extents_;                      // of all tensors, one after another
  IdVector<TensorId, std::size_t> first_extent_;           // in extents_
  IdVector<BufferId, std::byte*> bases_;                   // of buffers without placement
  IdVector<BufferId, std::vector<ValueId>> values_;        // in buffers without placement
  IdVector<BufferId, std::vector<BoundKernel*>> rebinds_;  // kernels that must know a new base
  IdVector<ValueId, std::byte*> cells_;                    // nullptr: in an input without memory
  std::vector<std::unique_ptr<OwnKernel>> own_;            // copies, If, Loop and Scan
  std::vector<Row> rows_;
  std::vector<std::int64_t> seen_bytes_;
  SideBySide side_by_side_;
  std::optional<StepId> failed_;
};

// The innermost step that did not succeed in a run that failed. Forgets it.
[[nodiscard]] std::optional<RunPlace> take_failed_place(AllTables& all);

}  // namespace lowtide::runtime_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <memory>
#include <vector>

#include "lowtide/base/bytes.h"
#include "lowtide/base/result.h"
#include "lowtide/graph/graph.h"
#include "lowtide/kernels/supported.h"
#include "lowtide/plan/plan.h"
#include "lowtide/runtime/executable_options.h"
#include "lowtide/runtime/memory.h"
#include "lowtide/runtime/port.h"
#include "lowtide/weights/weights.h"

namespace lowtide {

namespace runtime_internal {
struct Prepared;
}  // namespace runtime_internal

// The nodes that the plan runs and that have no kernel, those of bodies included. Executable::prepare() refuses them,
// and nodes that a kernel refuses because of their constants. Copies the graph and the plan. O(nodes).
[[nodiscard]] std::vector<UnsupportedNode> unsupported_steps(const Graph& graph, const Plan& plan);

// A model, its plan and its prepared kernels. Immutable, so any number of sessions on any threads may share it.
class Executable {
 public:
  // Prepares the kernel of every step. With one thread, the steps of all execution models run one after another, in the
  // order of the list, which verify() has shown to be a correct run. With more, steps of plans for streams or waves run
  // side by side, with the waits of the plan. A step that runs beside no other one has all threads, as all steps of
  // other plans have. Copies over links run beside kernels, with one thread for both directions: the last one, which
  // the executable has for this even if kernels run on one. The results are the same bits.
  //
  // Requires: verify() found nothing for this graph and this plan. `graph` is the graph that runs, after lowering.
  // Several executables may share the weights. Errors: (mismatch) the plan names another graph, or a key with which it
  // does not run here (runs_here), its scratch is smaller than a kernel needs, or a tensor is at an address that is not
  // a multiple of the size of its elements, or scratch at one that is not a multiple of 64; (unsupported) all steps
  // without kernel, bodies of other operators than If, Loop and Scan, a second region that a worker addresses, threads
  // that check_threads() or ExecutableOptions do not allow; (invalid) all constants without bytes, an attribute that a
  // kernel refuses, or a body that does not match its node; (no_memory) also if the system refuses a thread. O(steps +
  // values + bytes of copied constants), and what the kernels do.
  [[nodiscard]] static Result<std::shared_ptr<const Executable>> prepare(Graph graph, Plan plan,
                                                                         std::shared_ptr<const ModelWeights> weights,
                                                                         const ExecutableOptions& options = {});

  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable();

  // The arena that a session needs, at an address that is a multiple of 64.
  [[nodiscard]] Bytes required_bytes() const;
  [[nodiscard]] const ExecutableMemory& memory() const;

  [[nodiscard]] const std::vector<Port>& inputs() const;   // in the order of the model
  [[nodiscard]] const std::vector<Port>& outputs() const;  // in the order of the model
  [[nodiscard]] const std::vector<Port>& states() const;   // by TensorId

  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] const Plan& plan() const;
  [[nodiscard]] const ModelWeights& weights() const;
  // For other executables of the model.
  [[nodiscard]] std::shared_ptr<const ModelWeights> shared_weights() const;

  // For the rest of this room.
  [[nodiscard]] const runtime_internal::Prepared& prepared() const { return *prepared_; }

 private:
  explicit Executable(std::unique_ptr<const runtime_internal::Prepared> prepared);

  std::unique_ptr<const runtime_internal::Prepared> prepared_;
};

}  // namespace lowtide

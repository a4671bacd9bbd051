// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/listed.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/check_kernels.h"
#include "lowtide/verify/findings.h"
#include "lowtide/verify/plan/subject.h"

namespace lowtide {
namespace {

using verify_internal::Findings;
using verify_internal::name_of;
using verify_internal::Subject;

class KernelCheck {
 public:
  KernelCheck(const Subject& subject, const OfferedKernels& offered)
      : subject_(subject), graph_(subject.graph), plan_(subject.plan), offered_(offered) {}

  void check() {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      const Step& step = subject_.step(id);
      if (const auto* compute = std::get_if<Compute>(&step.work)) check_compute(id, *compute);
      if (const auto* alias = std::get_if<Alias>(&step.work)) check_alias(id, *alias);
      for (const BodyPlan& body : plan_.layout.steps[id].bodies) check_body(id, body);
    }
  }

 private:
  void wrong(StepId id, const std::string& message) {
    subject_.findings.add(
        {.kind = ViolationKind::wrong_kernel, .step = id, .message = name_of(subject_, id) + " " + message});
  }

  void check_compute(StepId id, const Compute& compute) {
    const std::string& name = plan_.kernels[compute.kernel].name;
    const std::vector<KernelFacts> kernels = offered_(graph_, compute.node);
    const auto used =
        std::find_if(kernels.begin(), kernels.end(), [&](const KernelFacts& one) { return one.name == name; });
    if (used == kernels.end()) {
      std::vector<std::string> known;
      for (const KernelFacts& one : kernels) known.push_back(quoted(one.name));
      return wrong(id, "runs kernel " + quoted(name) + ", but the target offers " + listed(known));
    }
    check_scratch(id, *used);
    check_in_place(id, compute.node, *used);
  }

  // The arenas of the bodies and the scratch of the kernel are in use at the same time.
  void check_scratch(StepId id, const KernelFacts& kernel) {
    const StepSpace& space = plan_.layout.steps[id];
    std::int64_t needed = 0;
    for (const BodyPlan& body : space.bodies) {
      for (Bytes arena : body.plan->layout.arena) needed = std::max(needed, (body.offset + arena).position());
    }
    needed += kernel.scratch.count();
    const std::int64_t found = space.scratch ? plan_.layout.buffers[*space.scratch].size.count() : 0;
    if (found >= needed) return;
    wrong(id, "has " + std::to_string(found) + " bytes of scratch, but kernel " + quoted(kernel.name) + " needs " +
                  std::to_string(needed) + (space.bodies.empty() ? "" : " with its bodies"));
  }

  void check_in_place(StepId id, NodeId node, const KernelFacts& kernel) {
    const Step& step = subject_.step(id);
    int output = -1;
    std::size_t write = 0;
    for (const std::optional<TensorId>& result : graph_.node(node).outputs) {
      ++output;
      if (!result) continue;
      const ValueId written = step.writes[write++];
      for (ValueId read : step.reads) {
        if (subject_.findings.is_full()) return;
        if (!share_bytes(read, written) || permits(kernel, node, subject_.plan.program.values[read].tensor, output))
          continue;
        wrong(id, "writes " + name_of(subject_, *result) + " over an operand, but kernel " + quoted(kernel.name) +
                      " may not work in place there");
      }
    }
  }

  [[nodiscard]] bool share_bytes(ValueId a, ValueId b) const {
    const ValuePlace& first = plan_.layout.values[a];
    const ValuePlace& second = plan_.layout.values[b];
    if (first.buffer != second.buffer) return false;
    const Offset first_end = first.offset + subject_.tensor_of(a).size;
    const Offset second_end = second.offset + subject_.tensor_of(b).size;
    return first.offset < second_end && second.offset < first_end;
  }

  [[nodiscard]] bool permits(const KernelFacts& kernel, NodeId node, TensorId operand, int output) const {
    const std::vector<std::optional<TensorId>>& inputs = graph_.node(node).inputs;
    return std::any_of(kernel.in_place.begin(), kernel.in_place.end(), [&](const std::pair<int, int>& pair) {
      return pair.second == output && inputs[static_cast<std::size_t>(pair.first)] == operand;
    });
  }

  void check_alias(StepId id, const Alias& alias) {
    const std::vector<KernelFacts> kernels = offered_(graph_, alias.node);
    if (std::any_of(kernels.begin(), kernels.end(), [](const KernelFacts& one) { return one.may_alias_views; })) return;
    wrong(id, "runs no kernel, but the target has none that may share the bytes of its operands");
  }

  // Recursion is bounded by limits::kMaxBodyNesting.
  void check_body(StepId id, const BodyPlan& body) {
    const NodeId node = *node_of(subject_.step(id));
    const std::vector<Body>& bodies = graph_.node(node).bodies;
    const auto inside =
        std::find_if(bodies.begin(), bodies.end(), [&](const Body& one) { return one.name == body.body; });
    if (inside == bodies.end()) return;
    subject_.findings.enter_body(name_of(subject_, node) + ": " + quoted(body.body));
    const Subject inner{*inside->graph, *body.plan, true, subject_.findings};
    KernelCheck(inner, offered_).check();
    subject_.findings.leave_body();
  }

  const Subject& subject_;
  const Graph& graph_;
  const Plan& plan_;
  const OfferedKernels& offered_;
};

}  // namespace

std::vector<Violation> verify_kernels(const Graph& graph, const Plan& plan, const OfferedKernels& offered,
                                      const VerifyOptions& options) {
  Findings findings(options);
  const Subject subject{graph, plan, false, findings};
  KernelCheck(subject, offered).check();
  return std::move(findings).take();
}

}  // namespace lowtide

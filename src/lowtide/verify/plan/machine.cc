// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "lowtide/base/quote.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

// Whether a body of the node has constants of its own, those of its own bodies included. Recursion over bodies only,
// bounded by limits::kMaxBodyNesting.
bool has_constants_inside(const Node& node) {
  return std::any_of(node.bodies.begin(), node.bodies.end(), [](const Body& body) {
    const auto& nodes = body.graph->nodes();
    return std::any_of(body.graph->tensors().begin(), body.graph->tensors().end(),
                       [](const Tensor& one) { return one.role == Role::constant && !one.is_captured; }) ||
           std::any_of(nodes.begin(), nodes.end(), has_constants_inside);
  });
}

// A worker touches bytes only in the regions that it addresses. A link copies bytes from one region to another, and
// runs no kernels.
class Reach {
 public:
  explicit Reach(const Subject& subject) : subject_(subject), plan_(subject.plan) {}

  void check() {
    for (StepId id : all_ids<StepId>(subject_.steps())) {
      if (subject_.findings.is_full()) return;
      const Stream& stream = plan_.program.streams[subject_.step(id).stream];
      if (stream.link) {
        check_link(id, plan_.machine.links[*stream.link], *stream.link);
      } else {
        check_worker(id, plan_.machine.workers[*stream.worker]);
      }
    }
  }

 private:
  // nullopt: memory that every worker can address.
  [[nodiscard]] std::optional<RegionId> region_of(BufferId id) const {
    const Buffer& buffer = plan_.layout.buffers[id];
    if (buffer.placement) return buffer.placement->region;
    return buffer.kind == BufferKind::constant && !buffer.home ? plan_.machine.constants : buffer.home;
  }
  [[nodiscard]] std::optional<RegionId> region_of(ValueId id) const {
    return region_of(plan_.layout.values[id].buffer);
  }

  void add(StepId step, std::vector<TensorId> tensors, std::optional<RegionId> region, const std::string& message) {
    subject_.findings.add({.kind = ViolationKind::unreachable,
                           .step = step,
                           .tensors = std::move(tensors),
                           .region = region,
                           .message = name_of(subject_, step) + " " + message});
  }

  void check_worker(StepId id, const Worker& worker) {
    const Step& step = subject_.step(id);
    if (is_alias(step)) return;
    for (ValueId read : step.reads) check_addressable(id, worker, "reads", read);
    for (ValueId write : step.writes) check_addressable(id, worker, "writes", write);
    check_bodies(id, worker);
    const std::optional<BufferId>& scratch = plan_.layout.steps[id].scratch;
    if (!scratch || subject_.findings.is_full()) return;
    const std::optional<RegionId> region = region_of(*scratch);
    if (region && !can_address(worker, *region)) {
      add(id, {}, region,
          "has scratch in " + name_of(subject_, *region) + ", which worker " + quoted(worker.name) + " cannot address");
    }
  }

  // The plan of a body does not say where constants are, so those of bodies are checked here.
  void check_bodies(StepId id, const Worker& worker) {
    const std::optional<RegionId>& constants = plan_.machine.constants;
    if (!constants || can_address(worker, *constants) || !is_compute(subject_.step(id))) return;
    const NodeId node = std::get<Compute>(subject_.step(id).work).node;
    if (subject_.findings.is_full() || !has_constants_inside(subject_.graph.node(node))) return;
    add(id, {}, constants,
        "runs a body with constants in " + name_of(subject_, *constants) + ", which worker " + quoted(worker.name) +
            " cannot address");
  }

  void check_addressable(StepId id, const Worker& worker, const char* verb, ValueId value) {
    const std::optional<RegionId> region = region_of(value);
    if (!region || can_address(worker, *region) || subject_.findings.is_full()) return;
    const TensorId tensor = plan_.program.values[value].tensor;
    add(id, {tensor}, region,
        std::string(verb) + " " + name_of(subject_, tensor) + " in " + name_of(subject_, *region) + ", which worker " +
            quoted(worker.name) + " cannot address");
  }

  void check_link(StepId id, const Link& link, LinkId link_id) {
    const Step& step = subject_.step(id);
    const std::string name = "link " + std::to_string(link_id.value());
    if (!is_copy(step)) return add(id, {}, std::nullopt, "runs on " + name + ", which only copies");
    check_end(id, step.reads[0], link.from, name + " takes bytes from ");
    check_end(id, step.writes[0], link.to, name + " puts bytes into ");
  }

  void check_end(StepId id, ValueId value, RegionId expected, const std::string& what) {
    const std::optional<RegionId> region = region_of(value);
    if (region == expected || subject_.findings.is_full()) return;
    const TensorId tensor = plan_.program.values[value].tensor;
    add(id, {tensor}, region,
        "cannot copy " + name_of(subject_, tensor) + ": " + what + name_of(subject_, expected) + ", but it is in " +
            (region ? name_of(subject_, *region) : std::string("memory of the caller whose region is not stated")));
  }

  const Subject& subject_;
  const Plan& plan_;
};

}  // namespace

void check_reach(const Subject& subject) { Reach(subject).check(); }

}  // namespace lowtide::verify_internal

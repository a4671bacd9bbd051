// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/limits.h"
#include "lowtide/verify/stages.h"

namespace lowtide::verification {
namespace {

// A sum that changes by the step. Never wraps: what is added to one profile is at most 2 * limits::kMaxTotalBytes at
// any step (the buffers of a plan, form.cc; or the tensors of a graph and the load of one body).
class Profile {
 public:
  explicit Profile(std::size_t steps) : change_(steps + 1, 0) {}

  void add(std::size_t begin, std::size_t end, std::int64_t bytes) {
    change_[begin] += bytes;
    change_[end] -= bytes;
  }
  // 0 without steps.
  [[nodiscard]] std::int64_t largest() const {
    std::int64_t now = 0;
    std::int64_t most = 0;
    for (std::int64_t change : change_) most = std::max(most, now += change);
    return most;
  }

 private:
  std::vector<std::int64_t> change_;
};

// Largest sum of temporaries and outputs alive in the order of the graph, nothing shared. A node with bodies adds the
// largest of theirs, and of each its inputs: those of a Loop or Scan are held all the time, an If has none.
std::int64_t load_as_given(const Graph& graph) {
  const std::size_t nodes = graph.nodes().size();
  Profile profile(nodes);
  for (TensorId id : all_ids<TensorId>(graph.tensors().size())) {
    const Tensor& tensor = graph.tensor(id);
    if (!tensor.producer) continue;
    std::size_t end = tensor.producer->index() + 1;
    for (NodeId reader : graph.readers(id)) end = std::max(end, reader.index() + 1);
    if (tensor.role == Role::output) end = nodes;
    profile.add(tensor.producer->index(), end, tensor.size.count());
  }
  for (NodeId id : all_ids<NodeId>(nodes)) {
    std::int64_t most = 0;
    for (const Body& body : graph.node(id).bodies) {
      std::int64_t inside = load_as_given(*body.graph);
      for (TensorId input : body.graph->inputs()) inside += body.graph->tensor(input).size.count();
      most = std::max(most, std::min(inside, limits::kMaxTotalBytes));
    }
    if (most > 0) profile.add(id.index(), id.index() + 1, most);
  }
  return profile.largest();
}

std::int64_t load_of_program(const Plan& plan) {
  Profile profile(plan.program.size());
  for (const Buffer& buffer : plan.buffers) {
    if (buffer.placement) profile.add(buffer.lifespan.begin.index(), buffer.lifespan.end.index(), buffer.size.count());
  }
  return profile.largest();
}

void wrong(const Subject& subject, std::string message) {
  subject.findings.add({.kind = ViolationKind::wrong_claim, .message = std::move(message)});
}

void check_number(const Subject& subject, const char* name, Bytes claimed, std::int64_t found) {
  if (claimed.count() == found) return;
  wrong(subject, std::string(name) + " is claimed to be " + std::to_string(claimed.count()) + " bytes, but is " +
                     std::to_string(found));
}

}  // namespace

void check_claims(const Subject& subject) {
  const Plan& plan = subject.plan;
  const Claims& claims = plan.claims;
  const std::int64_t load = load_of_program(plan);
  check_number(subject, "load_as_given", claims.load_as_given, load_as_given(subject.graph));
  check_number(subject, "load", claims.load, load);
  if (claims.bound.count() < 0 || claims.bound.count() > load) {
    wrong(subject, "bound " + std::to_string(claims.bound.count()) + " is not between 0 and the load, " +
                       std::to_string(load) + " bytes");
  }
  if (claims.schedule_optimal && claims.bound.count() != load) {
    wrong(subject, "the order is claimed to be optimal, but the bound is " + std::to_string(claims.bound.count()) +
                       " and the load " + std::to_string(load) + " bytes");
  }
  const std::int64_t arena = arena_bytes(plan).count();  // form.cc bounds the sum
  if (claims.allocate_optimal && arena != load) {
    wrong(subject, "the offsets are claimed to be optimal, but the arena has " + std::to_string(arena) +
                       " bytes for a load of " + std::to_string(load));
  }
}

}  // namespace lowtide::verification

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "lowtide/base/article.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/check_constants.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

constexpr std::int64_t kTooMuch = std::numeric_limits<std::int64_t>::max();

// Recursion over bodies only, bounded by limits::kMaxBodyNesting.
void add_sizes(const Graph& graph, std::vector<std::int64_t>& sizes) {
  for (const Tensor& tensor : graph.tensors()) {
    const bool is_own = tensor.role == Role::constant && !tensor.is_captured;
    if (is_own && tensor.size > Bytes(0)) sizes.push_back(tensor.size.count());
  }
  for (const Node& node : graph.nodes()) {
    for (const Body& body : node.bodies) add_sizes(*body.graph, sizes);
  }
}

// Where the last constant ends if they follow each other from `begin` on, each at a multiple of the alignment. The one
// that fills its last unit least comes last, which no other sequence beats. Returns kTooMuch on overflow.
std::int64_t end_of_constants(const Graph& graph, std::int64_t begin, std::int64_t alignment) {
  std::vector<std::int64_t> sizes;
  add_sizes(graph, sizes);
  const auto unused = [&](std::int64_t size) { return (alignment - size % alignment) % alignment; };
  std::sort(sizes.begin(), sizes.end(), [&](std::int64_t a, std::int64_t b) { return unused(a) < unused(b); });
  std::int64_t end = begin;
  for (std::int64_t size : sizes) {
    const std::optional<std::int64_t> start = checked_add(end, unused(end));
    const std::optional<std::int64_t> next = start ? checked_add(*start, size) : std::nullopt;
    if (!next) return kTooMuch;
    end = *next;
  }
  return end;
}

class Constants {
 public:
  explicit Constants(const Subject& subject) : subject_(subject), plan_(subject.plan) {}

  void check_homes() const {
    for (BufferId id : all_ids<BufferId>(plan_.layout.buffers.size())) {
      if (subject_.findings.is_full()) return;
      const Buffer& buffer = plan_.layout.buffers[id];
      const std::optional<RegionId> region = buffer.placement ? buffer.placement->region : buffer.home;
      const std::optional<RegionId>& stated = plan_.machine.constants;
      if (buffer.kind != BufferKind::constant) {
        if (region && plan_.machine.regions[region->index()].is_read_only) add_written(id, *region);
      } else if (region && stated && *region != *stated) {
        add(ViolationKind::misplaced, id, *region, std::nullopt,
            "is in " + name_of(subject_, *region) + ", but the plan says that constants are in " +
                name_of(subject_, *stated));
      }
    }
  }

  // `capacity`: of the region with the constants, for them and its arena.
  void check_capacity(std::optional<Bytes> capacity) const {
    if (subject_.is_body || !plan_.machine.constants || !capacity || subject_.findings.is_full()) return;
    const RegionId id = *plan_.machine.constants;
    const std::int64_t arena = plan_.layout.arena[id.index()].count();
    const std::int64_t end =
        end_of_constants(subject_.graph, arena, plan_.machine.regions[id.index()].alignment.count());
    if (end <= capacity->count()) return;
    subject_.findings.add({.kind = ViolationKind::out_of_region,
                           .region = id,
                           .bytes = Interval<std::int64_t>{capacity->count(), end},
                           .message = "the constants" +
                                      (arena > 0 ? " and an arena of " + std::to_string(arena) + " bytes" : "") +
                                      " end at byte " + std::to_string(end) + " of " + name_of(subject_, id) +
                                      ", which has only " + std::to_string(capacity->count())});
  }

  void compare(const Machine& machine) const {
    compare_parts(machine);
    for (std::size_t at = 0; at < std::max(plan_.machine.regions.size(), machine.regions.size()); ++at) {
      const bool is_in_plan = at < plan_.machine.regions.size() && plan_.machine.regions[at].is_read_only;
      const bool is_in_target = at < machine.regions.size() && machine.regions[at].is_read_only;
      if (is_in_plan == is_in_target) continue;
      const std::string& name = (is_in_plan ? plan_.machine : machine).regions[at].name;
      differ(ViolationKind::read_only,
             "region " + std::to_string(at) + " " + quoted(name) + " is read-only in the " +
                 (is_in_plan ? "plan, but not in the target" : "target, but not in the plan"));
    }
    const bool claims_to_fit = plan_.claims.shortfall == Bytes(0);
    if (claims_to_fit) compare_arenas(machine);
    if (plan_.machine.constants == machine.constants) {
      if (claims_to_fit && machine.constants) check_capacity(machine.regions[machine.constants->index()].capacity);
      return;
    }
    const auto place = [](const Machine& one) {
      if (!one.constants) return std::string("no region that it names");
      return "region " + std::to_string(one.constants->value()) + " " +
             quoted(one.regions[one.constants->index()].name);
    };
    differ(ViolationKind::misplaced,
           "the target keeps constants in " + place(machine) + ", but the plan in " + place(plan_.machine));
  }

 private:
  // All except capacities: a plan that does not fit is for a machine with more memory.
  void compare_parts(const Machine& machine) const {
    const std::size_t regions = plan_.machine.regions.size();
    if (regions != machine.regions.size()) {
      return differ(ViolationKind::misplaced, "the plan has " +
                                                  with_count(static_cast<std::int64_t>(regions), "region") +
                                                  ", but the target has " + std::to_string(machine.regions.size()));
    }
    for (std::size_t at = 0; at < regions; ++at) {
      const Region& own = plan_.machine.regions[at];
      const Region& other = machine.regions[at];
      if (own.name == other.name && own.alignment == other.alignment) continue;
      differ(ViolationKind::misplaced, "region " + std::to_string(at) + " is " + quoted(own.name) + " with alignment " +
                                           std::to_string(own.alignment.count()) + " in the plan, but " +
                                           quoted(other.name) + " with alignment " +
                                           std::to_string(other.alignment.count()) + " in the target");
    }
    if (plan_.machine.workers != machine.workers) {
      differ(ViolationKind::unreachable, "the workers of the plan are not those of the target");
    }
    if (plan_.machine.links != machine.links) {
      differ(ViolationKind::unreachable, "the links of the plan are not those of the target");
    }
  }

  void compare_arenas(const Machine& machine) const {
    const std::size_t both = std::min(plan_.layout.arena.size(), machine.regions.size());
    for (std::size_t at = 0; at < both && !subject_.findings.is_full(); ++at) {
      const Bytes arena = plan_.layout.arena[at];
      const std::optional<Bytes>& capacity = machine.regions[at].capacity;
      if (!capacity || arena <= *capacity) continue;
      subject_.findings.add({.kind = ViolationKind::out_of_region,
                             .region = RegionId(static_cast<std::uint32_t>(at)),
                             .bytes = Interval<std::int64_t>{capacity->count(), arena.count()},
                             .message = "the arena of region " + std::to_string(at) + " " +
                                        quoted(machine.regions[at].name) + " has " + std::to_string(arena.count()) +
                                        " bytes, but the region of the target only " +
                                        std::to_string(capacity->count())});
    }
  }

  void differ(ViolationKind kind, const std::string& message) const {
    subject_.findings.add(kind, message + ": plan the model again");
  }

  void add(ViolationKind kind, BufferId id, RegionId region, std::optional<StepId> step,
           const std::string& what) const {
    const std::optional<ValueId> value = value_in(id);
    Violation violation{.kind = kind, .step = step, .region = region, .message = name_of(subject_, id)};
    if (value) {
      violation.tensors = {plan_.program.values[*value].tensor};
      violation.message += " of " + name_of(subject_, violation.tensors[0]);
    }
    violation.message += " " + what;
    subject_.findings.add(std::move(violation));
  }

  void add_written(BufferId id, RegionId region) const {
    const std::optional<ValueId> value = value_in(id);
    const std::optional<StepId> step = value ? plan_.program.values[*value].written : std::nullopt;
    add(ViolationKind::read_only, id, region, step,
        "is in " + name_of(subject_, region) + ", which is read-only, so " +
            (step ? name_of(subject_, *step) + " cannot write it" : std::string("only constants can be there")));
  }

  // The first value of the buffer that a step writes, otherwise the first one.
  [[nodiscard]] std::optional<ValueId> value_in(BufferId id) const {
    std::optional<ValueId> first;
    for (ValueId value : all_ids<ValueId>(plan_.program.values.size())) {
      if (plan_.layout.values[value].buffer != id) continue;
      if (plan_.program.values[value].written) return value;
      if (!first) first = value;
    }
    return first;
  }

  const Subject& subject_;
  const Plan& plan_;
};

}  // namespace

void check_constants(const Subject& subject) {
  const Constants constants(subject);
  constants.check_homes();
  const std::optional<RegionId>& stated = subject.plan.machine.constants;
  if (stated) constants.check_capacity(subject.plan.machine.regions[stated->index()].capacity);
}

}  // namespace lowtide::verify_internal

namespace lowtide {

std::vector<Violation> verify_constants(const Graph& graph, const Plan& plan, const Machine& machine,
                                        const VerifyOptions& options) {
  verify_internal::Findings findings(options);
  verify_internal::Constants(verify_internal::Subject{graph, plan, false, findings}).compare(machine);
  return std::move(findings).take();
}

}  // namespace lowtide

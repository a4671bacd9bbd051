// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/quote.h"
#include "lowtide/verify/plan/stages.h"

namespace lowtide::verify_internal {
namespace {

class BodyPlaces {
 public:
  BodyPlaces(const Subject& subject, StepId id) : subject_(subject), id_(id), space_(subject.plan.layout.steps[id]) {}

  void check() {
    for (const BodyPlan& body : space_.bodies) {
      if (subject_.findings.is_full()) return;
      check_inside(body);
      check_alignment(body);
    }
    const NodeId node = std::get<Compute>(subject_.step(id_).work).node;
    if (!subject_.graph.op(node).traits.has_exclusive_bodies) check_disjoint();
  }

 private:
  // `verify` reports an inner plan that does not have one arena.
  static std::int64_t arena_of(const BodyPlan& body) {
    return body.plan->layout.arena.size() == 1 ? std::max<std::int64_t>(body.plan->layout.arena[0].count(), 0) : 0;
  }

  void wrong(ViolationKind kind, const std::string& message) {
    subject_.findings.add({.kind = kind, .step = id_, .message = name_of(subject_, id_) + " " + message});
  }

  void check_inside(const BodyPlan& body) {
    const std::int64_t arena = arena_of(body);
    if (!space_.scratch) {
      if (arena > 0) {
        wrong(ViolationKind::out_of_buffer,
              "has no scratch, but its body " + quoted(body.body) + " needs " + std::to_string(arena) + " bytes");
      }
      return;
    }
    const std::int64_t scratch = subject_.plan.layout.buffers[*space_.scratch].size.count();
    const std::int64_t offset = body.offset.position();
    if (offset >= 0 && offset <= scratch && arena <= scratch - offset) return;
    wrong(ViolationKind::out_of_buffer, "puts body " + quoted(body.body) + " with an arena of " +
                                            std::to_string(arena) + " bytes at offset " + std::to_string(offset) +
                                            " of " + name_of(subject_, *space_.scratch) + ", which has " +
                                            std::to_string(scratch));
  }

  // Nothing is known of the start of a region except that it is a multiple of the region's alignment. A body with a
  // finer alignment than all regions would have a smaller arena than the bounds of the plan around it assume.
  void check_alignment(const BodyPlan& body) {
    if (!space_.scratch || arena_of(body) == 0 || body.plan->machine.regions.size() != 1) return;
    const std::optional<Placement>& outer = subject_.plan.layout.buffers[*space_.scratch].placement;
    const std::int64_t alignment = body.plan->machine.regions[0].alignment.count();
    if (!outer || alignment <= 0) return;
    const std::int64_t outer_alignment = subject_.plan.machine.regions[outer->region.index()].alignment.count();
    const std::optional<std::int64_t> begin = checked_add(outer->offset.position(), body.offset.position());
    std::int64_t least = outer_alignment;
    for (RegionId id : written_regions(subject_.plan)) {
      least = std::min(least, subject_.plan.machine.regions[id.index()].alignment.count());
    }
    if (least <= alignment && alignment <= outer_alignment && begin && *begin % alignment == 0) return;
    wrong(ViolationKind::misaligned,
          "puts body " + quoted(body.body) + ", whose alignment is " + std::to_string(alignment) + ", at offset " +
              (begin ? std::to_string(*begin) : std::string("beyond 2^63")) + " of " +
              name_of(subject_, outer->region) + ", whose alignment is " + std::to_string(outer_alignment));
  }

  void check_disjoint() {
    std::vector<std::pair<std::int64_t, std::int64_t>> places;
    for (const BodyPlan& body : space_.bodies) {
      if (arena_of(body) > 0) places.emplace_back(body.offset.position(), arena_of(body));
    }
    std::sort(places.begin(), places.end());
    for (std::size_t at = 1; at < places.size() && !subject_.findings.is_full(); ++at) {
      const auto& [offset, arena] = places[at - 1];
      const std::optional<std::int64_t> end = checked_add(offset, arena);
      if (end && *end <= places[at].first) continue;
      wrong(ViolationKind::overlap, "has two bodies that share bytes from offset " + std::to_string(places[at].first) +
                                        " of its scratch on; only the branches of an If may");
    }
  }

  const Subject& subject_;
  const StepId id_;
  const StepSpace& space_;
};

}  // namespace

void check_body_places(const Subject& subject) {
  for (StepId id : all_ids<StepId>(subject.steps())) {
    if (subject.findings.is_full()) return;
    if (!subject.plan.layout.steps[id].bodies.empty()) BodyPlaces(subject, id).check();
  }
}

}  // namespace lowtide::verify_internal

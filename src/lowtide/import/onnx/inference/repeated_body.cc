// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/repeated_body.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/try.h"
#include "lowtide/import/onnx/inference/extent_symbol.h"

namespace lowtide::import_internal {
namespace {

using Facts = std::vector<TensorFact>;

// Returns the deepest nesting of Loop and Scan nodes in a body. It does not recurse, because the nesting is not limited
// here.
int loop_height(const onnx::GraphProto& body) {
  std::vector<std::pair<const onnx::GraphProto*, int>> open = {{&body, 0}};
  int highest = 0;
  while (!open.empty()) {
    const auto [graph, height] = open.back();
    open.pop_back();
    highest = std::max(highest, height);
    for (const onnx::NodeProto& node : graph->node()) {
      const bool is_loop = node.op_type() == "Loop" || node.op_type() == "Scan";
      for (const onnx::AttributeProto& attribute : node.attribute()) {
        if (attribute.has_g()) open.emplace_back(&attribute.g(), height + (is_loop ? 1 : 0));
      }
    }
  }
  return highest;
}

// Checks that the body keeps the element type and kind of a state.
Result<void> check_kind(const TensorFact& state, const TensorFact& next, std::size_t index) {
  const bool same_kind = state.is_tensor == next.is_tensor;
  if (same_kind && (!state.known.dtype || !next.known.dtype || state.known.dtype == next.known.dtype)) return {};
  const auto name = [](const TensorFact& fact) {
    return fact.known.dtype ? std::string(to_string(*fact.known.dtype)) : std::string("a value that is not a tensor");
  };
  return Error{ErrorCode::invalid,
               "state " + std::to_string(index) + " has type " + name(state) + ", but the body returns " + name(next),
               ""};
}

bool is_known(const KnownExtent& extent) { return extent.knowledge != Knowledge::unknown; }

// Whether every extent that `next` permits is one that `state` permits.
bool includes(const KnownExtent& state, const KnownExtent& next, const std::string& own_symbol) {
  switch (state.knowledge) {
    case Knowledge::exact: return next.knowledge == Knowledge::exact && next.extent == state.extent;
    case Knowledge::at_most: return is_known(next) && next.extent <= state.extent;
    case Knowledge::unknown: break;
  }
  return state.symbol == own_symbol || state == next;
}

// How a state is widened that does not hold.
enum class Widening : std::uint8_t {
  bound,       // an extent becomes the larger of both sizes, as a bound, or unknown
  open,        // it becomes unknown
  open_all,    // all extents of all states become unknown
  drop_ranks,  // ranks become unknown as well
};

class Repetition {
 public:
  Repetition(RepeatedBody loop, const InferBody& infer_body, const TripCount& trip_count)
      : loop_(std::move(loop)), infer_body_(infer_body), trip_count_(trip_count) {}

  Result<RepeatedFacts> infer() {
    if (loop_.body.input_size() < static_cast<int>(loop_.first_state + loop_.state_count) ||
        loop_.body.output_size() < static_cast<int>(loop_.first_state_output + loop_.state_count)) {
      return wrong_count("number of outputs of the body:", static_cast<std::size_t>(loop_.body.output_size()),
                         loop_.first_state_output + loop_.state_count);
    }
    forget_contents();
    first_ = states();
    LOWTIDE_RETURN_IF_ERROR(settle());
    LOWTIDE_RETURN_IF_ERROR(narrow());
    return RepeatedFacts{std::move(outputs_), last_.empty() ? states() : std::move(last_)};
  }

 private:
  [[nodiscard]] TensorFact& state(std::size_t index) { return loop_.inputs[loop_.first_state + index]; }
  [[nodiscard]] const TensorFact& next(std::size_t index) const { return outputs_[loop_.first_state_output + index]; }
  [[nodiscard]] std::string symbol(std::size_t index, std::size_t axis) const {
    return extent_symbol(loop_.node.output(static_cast<int>(index)), axis);
  }
  [[nodiscard]] Facts states() const {
    const auto begin = loop_.inputs.begin() + static_cast<std::ptrdiff_t>(loop_.first_state);
    return {begin, begin + static_cast<std::ptrdiff_t>(loop_.state_count)};
  }

  // A state keeps its content only if the body returns the state itself.
  void forget_contents() {
    for (std::size_t i = 0; i < loop_.state_count; ++i) {
      const std::string& in = loop_.body.input(static_cast<int>(loop_.first_state + i)).name();
      const std::string& out = loop_.body.output(static_cast<int>(loop_.first_state_output + i)).name();
      if (in != out) state(i).known.content = nullptr;
    }
  }

  Result<void> run() {
    LOWTIDE_TRY(outputs_, run_body(loop_.body, loop_.inputs, infer_body_));
    return {};
  }

  // Runs the body and widens the states until they hold.
  Result<void> settle() {
    // A loop around this one infers it with open states once its own states have changed.
    const bool is_deep = loop_height(loop_.body) >= 2;
    const bool begins_open = is_deep && has_open_state();
    if (begins_open) open_all(Widening::open_all);
    LOWTIDE_RETURN_IF_ERROR(run());
    for (const Widening how : {Widening::bound, Widening::open, Widening::open_all, Widening::drop_ranks}) {
      if ((is_deep && how == Widening::bound) || (begins_open && how == Widening::open)) continue;
      LOWTIDE_TRY(const bool is_changed, widen(how));
      if (!is_changed) return {};
      LOWTIDE_RETURN_IF_ERROR(run());
    }
    return {};
  }

  // Returns whether a state did not hold.
  Result<bool> widen(Widening how) {
    bool is_changed = false;
    for (std::size_t i = 0; i < loop_.state_count; ++i) {
      LOWTIDE_RETURN_IF_ERROR(check_kind(state(i), next(i), i));
      is_changed = widen_state(i, how) || is_changed;
    }
    if (is_changed && how != Widening::bound && how != Widening::open) open_all(how);
    return is_changed;
  }

  void open_all(Widening how) {
    for (std::size_t i = 0; i < loop_.state_count; ++i) {
      std::optional<std::vector<KnownExtent>>& extents = state(i).known.extents;
      if (how == Widening::drop_ranks) extents.reset();
      for (std::size_t axis = 0; extents && axis < extents->size(); ++axis) {
        (*extents)[axis] = {Knowledge::unknown, 0, symbol(i, axis)};
      }
    }
  }

  [[nodiscard]] bool has_open_state() const {
    for (const TensorFact& one : first_) {
      if (one.known.extents && !std::all_of(one.known.extents->begin(), one.known.extents->end(), is_known))
        return true;
    }
    return false;
  }

  bool widen_state(std::size_t index, Widening how) {
    TensorFact& current = state(index);
    const TensorFact& after = next(index);
    if (!current.is_tensor && !after.is_tensor) {
      const std::string before = current.type.SerializeAsString();
      onnx::UnionTypeInfo(after.type, current.type);  // throws if the kinds differ
      return current.type.SerializeAsString() != before;
    }
    if (!current.known.extents) return false;
    if (!after.known.extents || after.known.extents->size() != current.known.extents->size()) {
      current.known.extents.reset();
      return true;
    }
    bool is_changed = false;
    for (std::size_t axis = 0; axis < current.known.extents->size(); ++axis) {
      KnownExtent& extent = (*current.known.extents)[axis];
      const KnownExtent& returned = (*after.known.extents)[axis];
      const std::string own = symbol(index, axis);
      if (includes(extent, returned, own)) continue;
      const bool is_bounded = how == Widening::bound && is_known(extent) && is_known(returned);
      extent = is_bounded ? KnownExtent{Knowledge::at_most, std::max(extent.extent, returned.extent), own}
                          : KnownExtent{Knowledge::unknown, 0, own};
      is_changed = true;
    }
    return is_changed;
  }

  // Replaces extents of the states by what their first size and the outputs of the body say, and runs the body again.
  Result<void> narrow() {
    if (loop_height(loop_.body) > 3) return {};  // each level of loops around this one infers it once more
    const KnownExtent trips = trip_count_(outputs_);
    Facts last = states();
    bool is_narrowed = false;
    for (std::size_t i = 0; i < loop_.state_count; ++i) {
      if (!state(i).known.extents || !first_[i].known.extents || !next(i).known.extents) continue;
      for (std::size_t axis = 0; axis < state(i).known.extents->size(); ++axis) {
        KnownExtent& extent = (*state(i).known.extents)[axis];
        if (extent.knowledge == Knowledge::exact) continue;
        const KnownExtent& first = (*first_[i].known.extents)[axis];
        const KnownExtent& returned = (*next(i).known.extents)[axis];
        const std::string own = symbol(i, axis);
        if (!is_known(extent) && extent.symbol != own) continue;  // was never widened
        const Narrowed narrowed = narrowed_extent(first, returned, own, trips);
        const bool is_better = narrowed.in_each.knowledge == Knowledge::exact || !is_known(extent) ||
                               (is_known(narrowed.in_each) && narrowed.in_each.extent < extent.extent);
        if (!is_better) continue;
        (*last[i].known.extents)[axis] = narrowed.at_end;
        is_narrowed = is_narrowed || is_known(narrowed.in_each);
        extent = narrowed.in_each;
      }
    }
    last_ = std::move(last);
    return is_narrowed ? run() : Result<void>();
  }

  // An extent of a state at the start of each iteration and after the last one.
  struct Narrowed {
    KnownExtent in_each;
    KnownExtent at_end;
  };
  // `first`: before the first iteration. `returned`: by the body. `own`: the symbol at the start of each iteration.
  static Narrowed narrowed_extent(const KnownExtent& first, const KnownExtent& returned, const std::string& own,
                                  const KnownExtent& trips) {
    const auto both = [](const KnownExtent& extent) { return Narrowed{extent, extent}; };
    const KnownExtent open = {Knowledge::unknown, 0, own};
    if (is_known(returned)) {
      if (!is_known(first)) return both(open);
      const bool is_fixed = first.knowledge == Knowledge::exact && returned.knowledge == Knowledge::exact &&
                            first.extent == returned.extent;
      if (is_fixed) return both(first);
      return both({Knowledge::at_most, std::max(first.extent, returned.extent), own});
    }
    const std::optional<std::int64_t> growth = growth_over(own, returned.symbol);
    if (growth == 0) return both(first);
    const std::optional<std::int64_t> all =
        growth && is_known(trips) ? checked_multiply(*growth, trips.extent) : std::nullopt;
    if (!all) return both(open);
    const bool is_exact = trips.knowledge == Knowledge::exact;
    if (!is_known(first)) {
      return {open, is_exact ? KnownExtent{Knowledge::unknown, 0, symbol_plus(first.symbol, *all)} : open};
    }
    const std::optional<std::int64_t> sum = checked_add(first.extent, *all);
    if (!sum || *sum > limits::kMaxTensorBytes) return both(open);
    const KnownExtent most = {Knowledge::at_most, *sum, own};
    const bool is_exact_sum = is_exact && first.knowledge == Knowledge::exact;
    return {most, is_exact_sum ? KnownExtent{Knowledge::exact, *sum, ""} : most};
  }

  RepeatedBody loop_;  // its inputs are those of every iteration that has been inferred so far
  const InferBody& infer_body_;
  const TripCount& trip_count_;
  Facts first_;    // the states before the first iteration
  Facts outputs_;  // of the body
  Facts last_;     // the states after the last iteration; empty: as in every iteration
};

}  // namespace

Error wrong_count(const std::string& what, std::size_t has, std::size_t expected) {
  return {ErrorCode::invalid, what + " " + std::to_string(has) + ", expected " + std::to_string(expected), ""};
}

Result<Facts> run_body(const onnx::GraphProto& body, const Facts& inputs, const InferBody& infer_body) {
  Result<Facts> outputs = infer_body(body, inputs);
  if (outputs.ok() && outputs->size() != static_cast<std::size_t>(body.output_size())) {
    return wrong_count("number of facts of the body's outputs:", outputs->size(),
                       static_cast<std::size_t>(body.output_size()));
  }
  return outputs;
}

Result<RepeatedFacts> infer_repeated(RepeatedBody loop, const InferBody& infer_body, const TripCount& trip_count) {
  return Repetition(std::move(loop), infer_body, trip_count).infer();
}

}  // namespace lowtide::import_internal

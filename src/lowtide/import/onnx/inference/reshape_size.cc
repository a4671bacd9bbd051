// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/reshape_size.h"

#include <algorithm>

#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/proto/types.h"

namespace lowtide::import_internal {
namespace {

// Returns the only inexact extent of the input that is not cancelled, if the product of the exact ones is `others`. The
// -1 then equals this extent.
const KnownExtent* only_difference(const KnownExtents& data, const std::vector<bool>& is_used, Bound others) {
  const KnownExtent* only = nullptr;
  Bound exact = 1;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (is_used[i]) continue;
    if (!is_open(data[i])) {
      exact = product(exact, data[i].extent);
    } else if (only != nullptr) {
      return nullptr;
    } else {
      only = &data[i];
    }
  }
  return exact && others && *exact == *others && *exact > 0 ? only : nullptr;
}

// The equation "elements of the input = elements of the output" after unknown extents on both sides are cancelled.
struct Balance {
  const KnownExtents& data;         // the extents of the input
  bool zero_copies;                 // whether a 0 in the target copies the extent of the input
  std::vector<bool> is_used;        // extents of the input that are cancelled
  std::optional<std::size_t> open;  // the axis of the -1
  Bound others = 1;                 // product of the output extents that are not cancelled; nullopt if one is inexact
  std::int64_t at_least = 1;        // the same product, with each inexact extent counted as 1
};

// Returns a bound of the output's extent. At run time, the element may be 0 and copy the extent of the input, so the
// extent is at most the larger of both bounds.
Bound bound_of_target(const KnownElement& element, const Balance& balance, std::size_t axis) {
  const Bound most = bound_of(element);
  if (!balance.zero_copies || axis >= balance.data.size()) return most;
  const Bound copied = bound_of(balance.data[axis]);
  return most && copied ? Bound(std::max(*most, *copied)) : Bound();
}

// Returns nullopt if an extent is inexact or the product exceeds 64 bits.
Bound exact_elements(const TensorFact& fact) {
  if (!fact.known.extents || std::any_of(fact.known.extents->begin(), fact.known.extents->end(), is_open)) return {};
  return element_bound(*fact.known.extents);
}

// Finds an unknown extent of the input that has the name of the element and is not cancelled yet.
std::optional<std::size_t> same_name(const KnownElement& element, const Balance& balance) {
  const KnownExtents& data = balance.data;
  for (std::size_t i = 0; i < data.size(); ++i) {
    const bool is_named = data[i].knowledge == Knowledge::unknown && !data[i].symbol.empty();
    if (!balance.is_used[i] && is_named && data[i].symbol == element.symbol) return i;
  }
  return std::nullopt;
}

// Sets one axis of the output from one element of the target, and updates the balance.
void enter(const KnownElement& element, std::size_t axis, KnownExtents& output, Balance& balance) {
  const KnownExtents& data = balance.data;
  KnownExtent& extent = output[axis];
  const bool is_exact = element.knowledge == Knowledge::exact;
  if (is_exact && element.integer == -1) {
    balance.open = axis;
    return;
  }
  if (is_exact && element.integer == 0 && balance.zero_copies && axis < data.size()) {
    if (is_open(extent)) extent = data[axis];
    if (is_open(extent)) {
      balance.is_used[axis] = true;
      return;
    }
  }
  if (is_exact && (element.integer > 0 || !balance.zero_copies)) set_exact(extent, element.integer);
  if (element.knowledge == Knowledge::at_most) set_bound(extent, bound_of_target(element, balance, axis));
  if (extent.knowledge == Knowledge::exact) {
    balance.others = product(balance.others, extent.extent);
    const auto product_so_far = checked_multiply(balance.at_least, std::max<std::int64_t>(1, extent.extent));
    balance.at_least = product_so_far.value_or(balance.at_least);
  } else if (const auto same = same_name(element, balance)) {
    balance.is_used[*same] = true;
  } else {
    balance.others = std::nullopt;
  }
}

// Sets the extent of the -1 from the rest of the equation.
void solve(const Balance& balance, KnownExtent& open) {
  const KnownExtents& data = balance.data;
  Bound rest = 1;
  bool is_exact = true;
  for (std::size_t i = 0; i < data.size(); ++i) {
    if (balance.is_used[i]) continue;
    rest = product(rest, bound_of(data[i]));
    is_exact = is_exact && data[i].knowledge == Knowledge::exact;
  }
  const bool divides = rest && balance.others && *balance.others > 0;
  if (is_exact && divides && *rest % *balance.others == 0) set_exact(open, *rest / *balance.others);
  const KnownExtent* only = only_difference(data, balance.is_used, balance.others);
  if (only != nullptr && is_open(open)) open = *only;
  if (const Bound all = element_bound(data)) set_bound(open, *all / balance.at_least);
  if (divides) set_bound(open, *rest / *balance.others);
}

}  // namespace

void size_reshape(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownContent* target = sized.content(1);
  if (data == nullptr || target == nullptr) return;
  sized.give_rank(0, target->elements.size());  // before opset 13, the library knows no rank if a number is unknown
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != target->elements.size()) return;
  Balance balance{.data = *data, .zero_copies = sized.integer("allowzero", 0) == 0};
  balance.is_used.resize(data->size(), false);
  for (std::size_t axis = 0; axis < output->size(); ++axis) {
    enter(target->elements[axis], axis, *output, balance);
  }
  if (balance.open && is_open((*output)[*balance.open])) solve(balance, (*output)[*balance.open]);
}

Result<void> check_reshape(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                           const std::vector<TensorFact>& outputs) {
  if (node.op_type() != "Reshape" || inputs.empty() || inputs[0] == nullptr || outputs.empty()) return {};
  const Bound before = exact_elements(*inputs[0]);
  const Bound after = exact_elements(outputs[0]);
  if (!before || !after || *before == *after) return {};
  return Error{ErrorCode::invalid,
               quoted(node.output(0)) + " is " + describe(outputs[0]) + " with " + std::to_string(*after) +
                   " elements, but " + quoted(node.input(0)) + " is " + describe(*inputs[0]) + " with " +
                   std::to_string(*before),
               ""};
}

}  // namespace lowtide::import_internal

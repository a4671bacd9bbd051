// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference_rules.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "lowtide/base/checked.h"
#include "lowtide/base/limits.h"

namespace lowtide::detail {
namespace {

using Extents = std::vector<KnownExtent>;

// A node with its facts, and short ways to ask about them.
struct Sized {
  const onnx::NodeProto& node;
  std::span<const TensorFact* const> inputs;
  std::vector<TensorFact>& outputs;

  [[nodiscard]] const Extents* extents(std::size_t input) const {
    if (input >= inputs.size() || inputs[input] == nullptr || !inputs[input]->known.extents) return nullptr;
    return &*inputs[input]->known.extents;
  }
  [[nodiscard]] bool has(std::size_t input) const { return input < inputs.size() && inputs[input] != nullptr; }
  [[nodiscard]] const KnownContent* content(std::size_t input) const {
    return has(input) ? inputs[input]->known.content.get() : nullptr;
  }
  [[nodiscard]] const onnx::AttributeProto* attribute(std::string_view name) const {
    for (const onnx::AttributeProto& candidate : node.attribute()) {
      if (candidate.name() == name) return &candidate;
    }
    return nullptr;
  }
  [[nodiscard]] std::int64_t integer(std::string_view name, std::int64_t otherwise) const {
    const onnx::AttributeProto* found = attribute(name);
    return found == nullptr ? otherwise : found->i();
  }
  // The extents of an output, made from an input's rank where the library has not even that.
  [[nodiscard]] Extents* output(std::size_t index) const {
    if (index >= outputs.size() || !outputs[index].is_tensor || !outputs[index].known.extents) return nullptr;
    return &*outputs[index].known.extents;
  }
  [[nodiscard]] std::string symbol(std::size_t index, std::size_t axis) const {
    return node.output(static_cast<int>(index)) + "[" + std::to_string(axis) + "]";
  }
  void give_rank(std::size_t index, std::size_t rank) const {
    if (index >= outputs.size() || outputs[index].known.extents) return;
    Extents& made = outputs[index].known.extents.emplace();
    for (std::size_t axis = 0; axis < rank; ++axis) made.push_back({Knowledge::unknown, 0, symbol(index, axis)});
  }
};

// A bound of nothing known is nothing.
using Bound = std::optional<std::int64_t>;

Bound bound_of(const KnownExtent& extent) {
  return extent.knowledge == Knowledge::unknown ? Bound() : Bound(extent.extent);
}
Bound bound_of(const KnownElement& element) {
  return element.knowledge == Knowledge::unknown ? Bound() : Bound(std::max<std::int64_t>(0, element.integer));
}
Bound product(Bound a, Bound b) { return a && b ? checked_multiply(*a, *b) : std::nullopt; }
Bound least(Bound a, Bound b) { return a && b ? std::min(*a, *b) : (a ? a : b); }

Bound element_bound(const Extents& extents) {
  Bound count = 1;
  for (const KnownExtent& extent : extents) count = product(count, bound_of(extent));
  return count;
}

bool is_open(const KnownExtent& extent) { return extent.knowledge != Knowledge::exact; }

void set_exact(KnownExtent& extent, std::int64_t number) {
  if (is_open(extent) && number >= 0) extent = {Knowledge::exact, number, ""};
}

void set_bound(KnownExtent& extent, Bound bound) {
  if (!bound || !is_open(extent) || *bound > limits::kMaxTensorBytes) return;  // beyond it a bound says nothing
  if (extent.knowledge == Knowledge::at_most && extent.extent <= *bound) return;
  extent.knowledge = Knowledge::at_most;
  extent.extent = *bound;
}

std::optional<std::size_t> axis_in(std::int64_t axis, std::size_t rank) {
  const auto extent = static_cast<std::int64_t>(rank);
  if (axis < -extent || axis >= extent) return std::nullopt;
  return static_cast<std::size_t>(axis < 0 ? axis + extent : axis);
}

// The element of a list that belongs to an axis; nullptr if the list is not known.
const KnownElement* element_at(const KnownContent* content, std::size_t index) {
  return content != nullptr && index < content->elements.size() ? &content->elements[index] : nullptr;
}

std::optional<std::int64_t> exact_at(const KnownContent* content, std::size_t index) {
  const KnownElement* element = element_at(content, index);
  if (element == nullptr || element->knowledge != Knowledge::exact) return std::nullopt;
  return element->integer;
}

void size_non_zero(const Sized& sized) {
  const Extents* data = sized.extents(0);
  sized.give_rank(0, 2);
  Extents* output = sized.output(0);
  if (data == nullptr || output == nullptr || output->size() != 2) return;
  set_exact((*output)[0], static_cast<std::int64_t>(data->size()));
  set_bound((*output)[1], element_bound(*data));
}

void size_non_max_suppression(const Sized& sized) {
  sized.give_rank(0, 2);
  Extents* output = sized.output(0);
  const Extents* boxes = sized.extents(0);
  const Extents* scores = sized.extents(1);
  if (output == nullptr || output->size() != 2 || scores == nullptr || scores->size() != 3) return;
  set_exact((*output)[1], 3);
  Bound each = bound_of((*scores)[2]);
  if (boxes != nullptr && boxes->size() == 3) each = least(each, bound_of((*boxes)[1]));
  Bound most = 0;  // left out, max_output_boxes_per_class is 0: no box at all
  if (sized.has(2)) {
    const KnownElement* given = element_at(sized.content(2), 0);
    most = given == nullptr ? Bound() : bound_of(*given);
    each = least(each, most);
  } else {
    each = 0;
  }
  Bound batches = bound_of((*scores)[0]);
  if (boxes != nullptr && boxes->size() == 3) batches = least(batches, bound_of((*boxes)[0]));
  set_bound((*output)[0], product(product(batches, bound_of((*scores)[1])), each));
}

void size_unique(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const onnx::AttributeProto* given = sized.attribute("axis");
  if (data == nullptr) return;
  Bound most = element_bound(*data);
  if (given != nullptr) {
    const auto axis = axis_in(given->i(), data->size());
    if (!axis) return;
    most = bound_of((*data)[*axis]);
    sized.give_rank(0, data->size());
    Extents* values = sized.output(0);
    if (values == nullptr || values->size() != data->size()) return;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (i == *axis) set_bound((*values)[i], most);
      if (i != *axis && is_open((*values)[i])) (*values)[i] = (*data)[i];
    }
  } else if (Extents* values = sized.output(0); values != nullptr && values->size() == 1) {
    set_bound((*values)[0], most);
  }
  for (const std::size_t index : {std::size_t{1}, std::size_t{3}}) {
    if (Extents* list = sized.output(index); list != nullptr && list->size() == 1) set_bound((*list)[0], most);
  }
  if (Extents* inverse = sized.output(2); inverse != nullptr && inverse->size() == 1) {
    const bool is_exact = std::none_of(data->begin(), data->end(), is_open);
    if (is_exact && most) set_exact((*inverse)[0], *most);
    set_bound((*inverse)[0], most);
  }
}

void size_compress(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const Extents* condition = sized.extents(1);
  if (data == nullptr) return;
  const onnx::AttributeProto* given = sized.attribute("axis");
  const std::size_t rank = given == nullptr ? 1 : data->size();
  const auto axis = axis_in(given == nullptr ? 0 : given->i(), rank);
  if (!axis) return;
  sized.give_rank(0, rank);
  Extents* output = sized.output(0);
  if (output == nullptr || output->size() != rank) return;
  Bound most = given == nullptr ? element_bound(*data) : bound_of((*data)[*axis]);
  if (condition != nullptr && condition->size() == 1) most = least(most, bound_of((*condition)[0]));
  const KnownContent* trues = sized.content(1);
  if (trues != nullptr) {
    const auto known = std::count_if(trues->elements.begin(), trues->elements.end(), [](const KnownElement& element) {
      return element.knowledge != Knowledge::exact || element.integer != 0;
    });
    most = least(most, static_cast<std::int64_t>(known));
  }
  for (std::size_t i = 0; i < rank; ++i) {
    if (i == *axis) set_bound((*output)[i], most);
    if (i != *axis && is_open((*output)[i])) (*output)[i] = (*data)[i];
  }
}

// Where start and end are counted from the front, and the step is positive, the extent does not fall when the axis
// grows; else it is only as long as the axis, divided by the step.
Bound sliced_bound(const KnownExtent& extent, std::optional<std::int64_t> start, const KnownElement* end,
                   std::optional<std::int64_t> step) {
  Bound most = bound_of(extent);
  if (!step || *step <= 0) return most;
  const bool ends_at_front = end != nullptr && (end->knowledge == Knowledge::at_most ||
                                                (end->knowledge == Knowledge::exact && end->integer >= 0));
  if (ends_at_front) most = least(most, end->integer);
  if (most && start && *start >= 0) most = std::max<std::int64_t>(0, *most - std::min(*start, *most));
  if (most && start && *start < 0 && *start > -limits::kMaxTensorBytes) most = least(most, -*start);
  if (most) most = *most / *step + (*most % *step == 0 ? 0 : 1);
  return most;
}

void size_slice(const Sized& sized) {
  const Extents* data = sized.extents(0);
  if (data == nullptr) return;
  sized.give_rank(0, data->size());
  Extents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  const KnownContent* axes = sized.content(3);
  const Extents* count = sized.extents(1);
  std::vector<bool> is_done(data->size(), false);
  if (sized.has(1) && (!sized.has(3) || axes != nullptr) && count != nullptr && count->size() == 1 &&
      (*count)[0].knowledge == Knowledge::exact) {
    std::vector<bool> is_sliced(data->size(), false);
    bool are_axes_known = (*count)[0].extent <= limits::kMaxRank;
    for (std::size_t i = 0; are_axes_known && i < static_cast<std::size_t>((*count)[0].extent); ++i) {
      const auto named = sized.has(3) ? exact_at(axes, i) : std::optional(static_cast<std::int64_t>(i));
      const auto axis = named ? axis_in(*named, data->size()) : std::nullopt;
      are_axes_known = axis.has_value();
      if (!axis) break;
      is_sliced[*axis] = true;
      const auto step = sized.has(4) ? exact_at(sized.content(4), i) : std::optional<std::int64_t>(1);
      set_bound((*output)[*axis],
                sliced_bound((*data)[*axis], exact_at(sized.content(1), i), element_at(sized.content(2), i), step));
      is_done[*axis] = true;
    }
    // An axis that is not sliced stays what it is.
    for (std::size_t i = 0; are_axes_known && i < data->size(); ++i) {
      if (!is_sliced[i] && is_open((*output)[i])) (*output)[i] = (*data)[i];
    }
  }
  for (std::size_t i = 0; i < data->size(); ++i) {
    if (!is_done[i]) set_bound((*output)[i], bound_of((*data)[i]));
  }
}

void size_split(const Sized& sized) {
  const Extents* data = sized.extents(0);
  if (data == nullptr || sized.outputs.empty()) return;
  const auto axis = axis_in(sized.integer("axis", 0), data->size());
  if (!axis) return;
  const bool has_sizes = sized.has(1) || sized.attribute("split") != nullptr;
  const auto parts = static_cast<std::int64_t>(sized.outputs.size());
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    sized.give_rank(index, data->size());
    Extents* output = sized.output(index);
    if (output == nullptr || output->size() != data->size()) continue;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (i != *axis) {
        if (is_open((*output)[i])) (*output)[i] = (*data)[i];
        continue;
      }
      Bound most = bound_of((*data)[i]);
      const KnownElement* given = element_at(sized.content(1), index);
      if (has_sizes && given != nullptr) most = least(most, bound_of(*given));
      if (!has_sizes && most) most = *most / parts + (*most % parts == 0 ? 0 : 1);
      set_bound((*output)[i], most);
    }
  }
}

void size_top_k(const Sized& sized) {
  const Extents* data = sized.extents(0);
  if (data == nullptr) return;
  const auto axis = axis_in(sized.integer("axis", -1), data->size());
  if (!axis) return;
  const KnownElement* k = element_at(sized.content(1), 0);
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    sized.give_rank(index, data->size());
    Extents* output = sized.output(index);
    if (output == nullptr || output->size() != data->size()) continue;
    for (std::size_t i = 0; i < data->size(); ++i) {
      if (i == *axis) set_bound((*output)[i], least(bound_of((*data)[i]), k == nullptr ? Bound() : bound_of(*k)));
      if (i != *axis && is_open((*output)[i])) (*output)[i] = (*data)[i];
    }
  }
}

void size_range(const Sized& sized) {
  sized.give_rank(0, 1);
  Extents* output = sized.output(0);
  const auto start = exact_at(sized.content(0), 0);
  const KnownElement* limit = element_at(sized.content(1), 0);
  const auto step = exact_at(sized.content(2), 0);
  if (output == nullptr || output->size() != 1 || !is_open((*output)[0]) || limit == nullptr || !start || !step) return;
  const bool is_integer = sized.inputs[0]->known.dtype == DType::i64 || sized.inputs[0]->known.dtype == DType::i32;
  if (!is_integer) return;
  if (*start == 0 && *step == 1 && !limit->symbol.empty()) {
    (*output)[0].symbol = limit->symbol;
  } else if (limit->knowledge == Knowledge::at_most && *step > 0) {
    const Bound distance = checked_subtract(limit->integer, *start);
    if (distance) set_bound((*output)[0], *distance <= 0 ? 0 : (*distance - 1) / *step + 1);
  }
}

// The extent of the input that is not exact, if all others that are left have the product `others`: then it is the -1.
const KnownExtent* only_difference(const Extents& data, const std::vector<bool>& is_used, Bound others) {
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

// The tensor's elements before and after are as many. What stands on both sides as the same unknown extent cancels.
void size_reshape(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const KnownContent* target = sized.content(1);
  Extents* output = sized.output(0);
  if (data == nullptr || target == nullptr || output == nullptr || output->size() != target->elements.size()) return;
  const bool zero_copies = sized.integer("allowzero", 0) == 0;
  std::vector<bool> is_used(data->size(), false);
  std::optional<std::size_t> open;
  Bound others = 1;           // known product of what does not cancel, if all of it is exact
  std::int64_t at_least = 1;  // the same, counting what is not exact as 1
  for (std::size_t i = 0; i < output->size(); ++i) {
    const KnownElement& element = target->elements[i];
    KnownExtent& extent = (*output)[i];
    if (element.knowledge == Knowledge::exact && element.integer == -1) {
      open = i;
      continue;
    }
    const bool copies = element.knowledge == Knowledge::exact && element.integer == 0 && zero_copies;
    if (copies && i < data->size()) {
      if (is_open(extent)) extent = (*data)[i];
      if (is_open(extent)) {
        is_used[i] = true;
        continue;
      }
    }
    if (element.knowledge == Knowledge::at_most) {
      // At run time a 0 would copy the input's extent.
      Bound most = bound_of(element);
      if (zero_copies && i < data->size()) {
        const Bound copied = bound_of((*data)[i]);
        most = most && copied ? Bound(std::max(*most, *copied)) : Bound();
      }
      set_bound(extent, most);
    }
    if (extent.knowledge == Knowledge::exact) {
      others = product(others, extent.extent);
      at_least = checked_multiply(at_least, std::max<std::int64_t>(1, extent.extent)).value_or(at_least);
      continue;
    }
    // An unknown extent of the same name in the input.
    const auto same = std::find_if(data->begin(), data->end(), [&](const KnownExtent& candidate) {
      const auto at = static_cast<std::size_t>(&candidate - data->data());
      return !is_used[at] && candidate.knowledge == Knowledge::unknown && !candidate.symbol.empty() &&
             candidate.symbol == element.symbol;
    });
    if (same != data->end()) {
      is_used[static_cast<std::size_t>(same - data->begin())] = true;
    } else {
      others = std::nullopt;
    }
  }
  if (!open || !is_open((*output)[*open])) return;
  Bound rest = 1;
  bool is_exact = true;
  for (std::size_t i = 0; i < data->size(); ++i) {
    if (is_used[i]) continue;
    rest = product(rest, bound_of((*data)[i]));
    is_exact = is_exact && (*data)[i].knowledge == Knowledge::exact;
  }
  if (is_exact && rest && others && *others > 0 && *rest % *others == 0) set_exact((*output)[*open], *rest / *others);
  if (const KnownExtent* only = only_difference(*data, is_used, others); only != nullptr && is_open((*output)[*open])) {
    (*output)[*open] = *only;
  }
  const Bound all = element_bound(*data);
  if (all) set_bound((*output)[*open], *all / at_least);
  if (rest && others && *others > 0) set_bound((*output)[*open], *rest / *others);
}

// Axis by axis: output = input x factor, or input + before + after.
void size_tile(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const KnownContent* repeats = sized.content(1);
  if (data == nullptr || repeats == nullptr || repeats->elements.size() != data->size()) return;
  sized.give_rank(0, data->size());
  Extents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const KnownElement& times = repeats->elements[i];
    const Bound most = product(bound_of((*data)[i]), bound_of(times));
    const bool is_exact = times.knowledge == Knowledge::exact && !is_open((*data)[i]);
    if (is_exact && most) set_exact((*output)[i], *most);
    if (times.knowledge == Knowledge::exact && times.integer == 1 && is_open((*output)[i])) (*output)[i] = (*data)[i];
    set_bound((*output)[i], most);
  }
}

void size_pad(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const KnownContent* pads = sized.content(1);
  if (data == nullptr || pads == nullptr || sized.has(3) || pads->elements.size() != 2 * data->size()) return;
  sized.give_rank(0, data->size());
  Extents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const auto before = exact_at(pads, i);
    const auto after = exact_at(pads, data->size() + i);
    const auto added = before && after ? checked_add(*before, *after) : std::nullopt;
    if (!added) continue;
    if (*added == 0 && is_open((*output)[i])) (*output)[i] = (*data)[i];
    const Bound own = bound_of((*data)[i]);
    const auto sum = own ? checked_add(*own, *added) : std::nullopt;
    if (!sum || *sum < 0) continue;
    if (!is_open((*data)[i])) set_exact((*output)[i], *sum);
    set_bound((*output)[i], *sum);
  }
}

// An axis with a scale of 1 stays what it is.
void keep_unscaled(const Sized& sized, const KnownContent& scales) {
  const Extents* data = sized.extents(0);
  Extents* output = sized.output(0);
  if (data == nullptr || output == nullptr || output->size() != data->size() ||
      scales.elements.size() != data->size()) {
    return;
  }
  for (std::size_t i = 0; i < data->size(); ++i) {
    const KnownElement& scale = scales.elements[i];
    if (scale.knowledge == Knowledge::exact && scale.real == 1 && is_open((*output)[i])) (*output)[i] = (*data)[i];
  }
}

// Only where each axis is given and none is changed for the aspect ratio.
void size_resize(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const KnownContent* scales = sized.content(sized.inputs.size() > 2 ? 2 : 1);
  if (scales != nullptr && sized.attribute("axes") == nullptr) keep_unscaled(sized, *scales);
  const KnownContent* sizes = sized.content(3);
  const onnx::AttributeProto* policy = sized.attribute("keep_aspect_ratio_policy");
  if (data == nullptr || sizes == nullptr || sized.attribute("axes") != nullptr) return;
  if ((policy != nullptr && policy->s() != "stretch") || sizes->elements.size() != data->size()) return;
  sized.give_rank(0, data->size());
  Extents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const KnownElement& size = sizes->elements[i];
    if (size.knowledge == Knowledge::exact) set_exact((*output)[i], size.integer);
    if (size.knowledge == Knowledge::at_most) set_bound((*output)[i], size.integer);
    if (size.knowledge == Knowledge::unknown && !size.symbol.empty() && is_open((*output)[i])) {
      (*output)[i].symbol = size.symbol;
    }
  }
}

// Y [length, directions, batch, hidden], Y_h and Y_c [directions, batch, hidden]; R is [directions, k x hidden, hidden].
void size_recurrent(const Sized& sized) {
  const Extents* data = sized.extents(0);
  const Extents* recurrence = sized.extents(2);
  if (data == nullptr || recurrence == nullptr || data->size() != 3 || recurrence->size() != 3) return;
  const bool is_batch_first = sized.integer("layout", 0) != 0;
  const KnownExtent& hidden = (*recurrence)[2];
  const KnownExtent& directions = (*recurrence)[0];
  const KnownExtent& length = (*data)[is_batch_first ? 1 : 0];
  const KnownExtent& batch = (*data)[is_batch_first ? 0 : 1];
  const auto fill = [&](std::size_t index, const Extents& known) {
    sized.give_rank(index, known.size());
    Extents* output = sized.output(index);
    if (output == nullptr || output->size() != known.size()) return;
    for (std::size_t i = 0; i < known.size(); ++i) {
      if ((*output)[i].knowledge == Knowledge::unknown) (*output)[i] = known[i];
    }
  };
  if (is_batch_first) {
    fill(0, {batch, length, directions, hidden});
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) fill(index, {batch, directions, hidden});
  } else {
    fill(0, {length, directions, batch, hidden});
    for (const std::size_t index : {std::size_t{1}, std::size_t{2}}) fill(index, {directions, batch, hidden});
  }
}

struct SizeRule {
  std::string_view type;
  void (*rule)(const Sized&);
};

constexpr SizeRule kRules[] = {
    {"Compress", size_compress}, {"GRU", size_recurrent},
    {"LSTM", size_recurrent},    {"NonMaxSuppression", size_non_max_suppression},
    {"NonZero", size_non_zero},  {"Pad", size_pad},
    {"RNN", size_recurrent},     {"Range", size_range},
    {"Reshape", size_reshape},   {"Resize", size_resize},
    {"Slice", size_slice},       {"Split", size_split},
    {"Tile", size_tile},         {"TopK", size_top_k},
    {"Unique", size_unique},
};

}  // namespace

void apply_size_rules(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                      std::vector<TensorFact>& outputs) {
  const auto found = std::lower_bound(std::begin(kRules), std::end(kRules), std::string_view(node.op_type()),
                                      [](const SizeRule& rule, std::string_view type) { return rule.type < type; });
  if (found == std::end(kRules) || found->type != node.op_type()) return;
  found->rule(Sized{node, inputs, outputs});
}

}  // namespace lowtide::detail

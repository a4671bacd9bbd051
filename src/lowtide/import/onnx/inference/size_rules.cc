// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/size_rules.h"

#include <algorithm>
#include <cmath>

#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/data_dependent_sizes.h"
#include "lowtide/import/onnx/inference/reshape_size.h"

namespace lowtide::import_internal {
namespace {

// Bounds the extent of a slice. If the step is known and positive, the bound is the least that the axis, the end and
// the start permit, divided by the step. Otherwise it is the bound of the axis.
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
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr) return;
  sized.give_rank(0, data->size());
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  const KnownContent* axes = sized.content(3);
  const KnownExtents* count = sized.extents(1);
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
    // An axis that is not sliced keeps its extent.
    for (std::size_t i = 0; are_axes_known && i < data->size(); ++i) {
      if (!is_sliced[i] && is_open((*output)[i])) (*output)[i] = (*data)[i];
    }
  }
  for (std::size_t i = 0; i < data->size(); ++i) {
    if (!is_done[i]) set_bound((*output)[i], bound_of((*data)[i]));
  }
}

void size_split(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  if (data == nullptr || sized.outputs.empty()) return;
  const auto axis = axis_in(sized.integer("axis", 0), data->size());
  if (!axis) return;
  const bool has_sizes = sized.has(1) || sized.attribute("split") != nullptr;
  const auto parts = static_cast<std::int64_t>(sized.outputs.size());
  for (std::size_t index = 0; index < sized.outputs.size(); ++index) {
    sized.give_rank(index, data->size());
    KnownExtents* output = sized.output(index);
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

// The length of a Range of exact numbers; nullopt if it is not one of 63 bits.
std::optional<std::int64_t> length_between(bool is_real, const KnownElement& start, const KnownElement& limit,
                                           const KnownElement& step) {
  if (is_real) {
    const double length = std::ceil((limit.real - start.real) / step.real);
    if (!(length <= static_cast<double>(limits::kMaxTensorBytes))) return std::nullopt;
    return length > 0 ? static_cast<std::int64_t>(length) : 0;
  }
  const auto distance = checked_subtract(limit.integer, start.integer);
  if (!distance || step.integer == 0) return std::nullopt;
  const std::int64_t rest = *distance % step.integer;
  const std::int64_t length = *distance / step.integer + (rest != 0 && (rest < 0) == (step.integer < 0) ? 1 : 0);
  return std::max<std::int64_t>(length, 0);
}

std::optional<std::int64_t> range_length(const Sized& sized) {
  const KnownElement* numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    numbers[i] = element_at(sized.content(i), 0);
    if (numbers[i] == nullptr || numbers[i]->knowledge != Knowledge::exact) return std::nullopt;
  }
  return length_between(is_float(sized.content(0)->dtype), *numbers[0], *numbers[1], *numbers[2]);
}

void size_range(const Sized& sized) {
  sized.give_rank(0, 1);
  KnownExtents* output = sized.output(0);
  if (const auto length = range_length(sized); length && output != nullptr && output->size() == 1) {
    set_exact((*output)[0], *length);
  }
  const KnownElement* limit = element_at(sized.content(1), 0);
  const KnownElement* start = element_at(sized.content(0), 0);
  const KnownElement* step = element_at(sized.content(2), 0);
  if (output == nullptr || output->size() != 1 || !is_open((*output)[0]) || limit == nullptr) return;
  for (const KnownElement* known : {start, step}) {
    if (known == nullptr || known->knowledge != Knowledge::exact) return;
  }
  const bool is_real = is_float(sized.content(1)->dtype);
  if (!is_real && start->integer == 0 && step->integer == 1 && !limit->symbol.empty()) {
    (*output)[0].symbol = limit->symbol;
  }
  if (limit->knowledge != Knowledge::at_most || !(is_real ? step->real > 0 : step->integer > 0)) return;
  // The length never decreases with the limit.
  KnownElement most = *limit;
  most.knowledge = Knowledge::exact;
  set_bound((*output)[0], length_between(is_real, *start, most, *step));
}

// For each axis: output = input x repeats.
void size_tile(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownContent* repeats = sized.content(1);
  if (data == nullptr || repeats == nullptr || repeats->elements.size() != data->size()) return;
  sized.give_rank(0, data->size());
  KnownExtents* output = sized.output(0);
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

// For each axis: output = input + before + after.
void size_pad(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownContent* pads = sized.content(1);
  if (data == nullptr || pads == nullptr || sized.has(3) || pads->elements.size() != 2 * data->size()) return;
  sized.give_rank(0, data->size());
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const auto before = exact_at(pads, i);
    const auto after = exact_at(pads, data->size() + i);
    const auto added = before && after ? checked_add(*before, *after) : std::nullopt;
    if (!added) continue;
    if (*added == 0 && is_open((*output)[i])) (*output)[i] = (*data)[i];
    const bool is_grown = *added > 0 && (*data)[i].knowledge == Knowledge::unknown && !(*data)[i].symbol.empty();
    if (is_grown && (*output)[i].knowledge == Knowledge::unknown) {
      (*output)[i].symbol = symbol_plus((*data)[i].symbol, *added);
    }
    const Bound own = bound_of((*data)[i]);
    const auto sum = own ? checked_add(*own, *added) : std::nullopt;
    if (!sum || *sum < 0) continue;
    if (!is_open((*data)[i])) set_exact((*output)[i], *sum);
    set_bound((*output)[i], sum);
  }
}

// An axis with a scale of 1 keeps its extent. A bound is scaled like an extent.
void scale_extents(const Sized& sized, const KnownContent& scales) {
  const KnownExtents* data = sized.extents(0);
  KnownExtents* output = sized.output(0);
  if (data == nullptr || output == nullptr || output->size() != data->size() ||
      scales.elements.size() != data->size()) {
    return;
  }
  for (std::size_t i = 0; i < data->size(); ++i) {
    const KnownElement& scale = scales.elements[i];
    if (scale.knowledge != Knowledge::exact) continue;
    if (scale.real == 1 && is_open((*output)[i])) (*output)[i] = (*data)[i];
    const Bound own = bound_of((*data)[i]);
    const double scaled = own ? std::floor(static_cast<double>(*own) * scale.real) : -1;
    if (scaled >= 0 && scaled <= static_cast<double>(limits::kMaxTensorBytes)) {
      set_bound((*output)[i], static_cast<std::int64_t>(scaled));
    }
  }
}

// Applies only if each axis is given and none is changed for the aspect ratio.
void size_resize(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownContent* scales = sized.content(sized.inputs.size() > 2 ? 2 : 1);
  if (scales != nullptr && sized.attribute("axes") == nullptr) scale_extents(sized, *scales);
  const KnownContent* sizes = sized.content(3);
  const onnx::AttributeProto* policy = sized.attribute("keep_aspect_ratio_policy");
  if (data == nullptr || sizes == nullptr || sized.attribute("axes") != nullptr) return;
  if ((policy != nullptr && policy->s() != "stretch") || sizes->elements.size() != data->size()) return;
  sized.give_rank(0, data->size());
  KnownExtents* output = sized.output(0);
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

// Y is [length, directions, batch, hidden], Y_h and Y_c are [directions, batch, hidden], and R is [directions, k x
// hidden, hidden].
void size_recurrent(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownExtents* recurrence = sized.extents(2);
  if (data == nullptr || recurrence == nullptr || data->size() != 3 || recurrence->size() != 3) return;
  const bool is_batch_first = sized.integer("layout", 0) != 0;
  const KnownExtent& hidden = (*recurrence)[2];
  const KnownExtent& directions = (*recurrence)[0];
  const KnownExtent& length = (*data)[is_batch_first ? 1 : 0];
  const KnownExtent& batch = (*data)[is_batch_first ? 0 : 1];
  const auto fill = [&](std::size_t index, const KnownExtents& known) {
    sized.give_rank(index, known.size());
    KnownExtents* output = sized.output(index);
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

// The library knows only a shape that follows from the window. A given shape may be larger.
void size_max_unpool(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownContent* shape = sized.content(2);
  if (data == nullptr || shape == nullptr || shape->elements.size() != data->size()) return;
  sized.give_rank(0, data->size());
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != data->size()) return;
  for (std::size_t i = 0; i < data->size(); ++i) {
    const KnownElement& extent = shape->elements[i];
    if (extent.knowledge == Knowledge::exact && extent.integer >= 0)
      (*output)[i] = {Knowledge::exact, extent.integer, ""};
    if (extent.knowledge == Knowledge::at_most) set_bound((*output)[i], extent.integer);
  }
}

// [batch, frames, frequencies, 2]. A spectrum is one-sided by default. The library gives it all frequencies.
void size_stft(const Sized& sized) {
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != 4 || sized.attribute("onesided") != nullptr) return;
  KnownExtent& frequencies = (*output)[2];
  if (frequencies.knowledge != Knowledge::unknown) frequencies.extent = frequencies.extent / 2 + 1;
}

// The extents of the indices without the last one, then those of the data that they do not index. The library gives a
// scalar no rank.
void size_gather_nd(const Sized& sized) {
  const KnownExtents* data = sized.extents(0);
  const KnownExtents* indices = sized.extents(1);
  if (data == nullptr || indices == nullptr || indices->empty() || is_open(indices->back())) return;
  const std::int64_t indexed = sized.integer("batch_dims", 0) + indices->back().extent;
  if (indexed > static_cast<std::int64_t>(data->size())) return;
  KnownExtents known(indices->begin(), indices->end() - 1);
  known.insert(known.end(), data->begin() + indexed, data->end());
  sized.give_rank(0, known.size());
  KnownExtents* output = sized.output(0);
  if (output == nullptr || output->size() != known.size()) return;
  for (std::size_t i = 0; i < known.size(); ++i) {
    if ((*output)[i].knowledge == Knowledge::unknown) (*output)[i] = known[i];
  }
}

// Along the axis, the sum. One extent that is unknown gives the sum a symbol, such as "batch+1".
void size_concat(const Sized& sized) {
  KnownExtents* output = sized.output(0);
  if (output == nullptr) return;
  const auto axis = axis_in(sized.integer("axis", 1), output->size());
  if (!axis || (*output)[*axis].knowledge != Knowledge::unknown) return;
  const KnownExtent* open = nullptr;
  std::optional<std::int64_t> sum = 0;
  for (std::size_t input = 0; input < sized.inputs.size(); ++input) {
    const KnownExtents* extents = sized.extents(input);
    if (extents == nullptr || extents->size() != output->size() || !sum) return;
    const KnownExtent& extent = (*extents)[*axis];
    if (extent.knowledge == Knowledge::exact) {
      sum = checked_add(*sum, extent.extent);
    } else if (extent.knowledge == Knowledge::unknown && open == nullptr) {
      open = &extent;
    } else {
      return;
    }
  }
  if (open != nullptr && sum && !open->symbol.empty()) (*output)[*axis].symbol = symbol_plus(open->symbol, *sum);
}

struct SizeRule {
  std::string_view type;
  void (*rule)(const Sized&);
};

constexpr SizeRule kRules[] = {
    {"Compress", size_compress},
    {"Concat", size_concat},
    {"GRU", size_recurrent},
    {"GatherND", size_gather_nd},
    {"LSTM", size_recurrent},
    {"MaxUnpool", size_max_unpool},
    {"NonMaxSuppression", size_non_max_suppression},
    {"NonZero", size_non_zero},
    {"Pad", size_pad},
    {"RNN", size_recurrent},
    {"Range", size_range},
    {"Reshape", size_reshape},
    {"Resize", size_resize},
    {"STFT", size_stft},
    {"Slice", size_slice},
    {"Split", size_split},
    {"Tile", size_tile},
    {"TopK", size_top_k},
    {"Unique", size_unique},
};

}  // namespace

void apply_size_rules(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                      std::vector<TensorFact>& outputs) {
  const auto found = std::lower_bound(std::begin(kRules), std::end(kRules), std::string_view{node.op_type()},
                                      [](const SizeRule& rule, std::string_view type) { return rule.type < type; });
  if (found == std::end(kRules) || found->type != node.op_type()) return;
  found->rule(Sized{node, inputs, outputs});
}

}  // namespace lowtide::import_internal

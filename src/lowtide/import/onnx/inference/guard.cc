// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/inference/guard.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>

#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/import/onnx/fold/numbers.h"
#include "lowtide/import/onnx/inference/guard_groups.h"

namespace lowtide::import_internal {
namespace {

constexpr std::int64_t kMostSpatial = (std::int64_t{1} << 31) - 1;          // for kernels, strides, dilations and pads
constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();  // no lower limit
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMostDataType = 255;  // far above ONNX's numbers of element types

// The range of the numbers in an attribute of this name, for every operator.
struct AttributeLimits {
  std::string_view name;
  std::int64_t least;
  std::int64_t most;
};

constexpr std::int64_t kRank = limits::kMaxRank;
constexpr std::int64_t kMost = limits::kMaxTensorBytes;
constexpr AttributeLimits kAttributeLimits[] = {
    {"axes", -kRank, kRank},
    {"axis", -kRank, kRank},
    {"batch_axis", -kRank, kRank},
    {"batch_dims", 0, kRank},
    {"blocksize", 1, kMostSpatial},
    {"dilations", 1, kMostSpatial},
    {"dtype", 0, kMostDataType},
    {"group", 1, kMostSpatial},
    {"hidden_size", 1, kMost},
    {"kernel_shape", 1, kMostSpatial},
    {"kv_num_heads", 0, kMost},
    {"max_gram_length", 0, kMostSpatial},
    {"ngram_indexes", 0, kMost},
    {"num_groups", 1, kMost},
    {"num_heads", 0, kMost},
    {"num_outputs", 1, kMostSpatial},
    {"num_scan_inputs", 0, kMostSpatial},
    {"output_height", 1, kMostSpatial},
    {"output_padding", -kMostSpatial, kMostSpatial},
    {"output_shape", 0, kMost},
    {"output_width", 1, kMostSpatial},
    {"pads", -kMostSpatial, kMostSpatial},
    {"perm", 0, kRank - 1},
    {"pooled_shape", 1, kMostSpatial},
    {"q_num_heads", 0, kMost},
    {"sample_size", 0, kMost},
    {"scan_input_axes", -kRank, kRank},
    {"scan_output_axes", -kRank, kRank},
    {"shape", -1, kMost},
    {"split", 0, kMost},
    {"strides", 1, kMostSpatial},
    {"time_axis", -kRank, kRank},
    {"to", 0, kMostDataType},
};
static_assert(std::is_sorted(std::begin(kAttributeLimits), std::end(kAttributeLimits),
                             [](const AttributeLimits& a, const AttributeLimits& b) { return a.name < b.name; }));

Error out_of_limits(const std::string& what, std::int64_t number, std::int64_t least, std::int64_t most) {
  return {ErrorCode::invalid,
          what + " has the number " + std::to_string(number) + ", which is outside [" + std::to_string(least) + ", " +
              std::to_string(most) + "]",
          ""};
}

Result<void> guard_number(const std::string& name, std::int64_t number, const AttributeLimits& bounds) {
  if (number >= bounds.least && number <= bounds.most) return {};
  return out_of_limits("attribute " + quoted(name), number, bounds.least, bounds.most);
}

Result<void> guard_perm(const onnx::AttributeProto& attribute) {
  std::array<bool, static_cast<std::size_t>(kRank)> is_taken{};
  for (const std::int64_t axis : attribute.ints()) {
    bool& taken = is_taken[static_cast<std::size_t>(axis)];  // the range of "perm" has been checked
    if (taken)
      return Error{ErrorCode::invalid, "attribute 'perm' contains axis " + std::to_string(axis) + " twice", ""};
    taken = true;
  }
  return {};
}

// The library treats any other word as NOTSET.
Result<void> guard_auto_pad(const onnx::AttributeProto& attribute) {
  constexpr std::string_view kWords[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID", ""};
  if (std::find(std::begin(kWords), std::end(kWords), attribute.s()) != std::end(kWords)) return {};
  return Error{
      ErrorCode::invalid,
      "attribute 'auto_pad' is " + quoted(attribute.s()) + "; it must be NOTSET, SAME_UPPER, SAME_LOWER or VALID", ""};
}

Result<void> guard_scales(const std::string& what, double scale, std::int64_t extent) {
  // The library multiplies, takes the floor and casts to 64 bits.
  if (std::isfinite(scale) && scale >= 0 && scale * static_cast<double>(extent) < static_cast<double>(kMost)) return {};
  return Error{ErrorCode::invalid,
               what + " has the scale " + std::to_string(scale) + ", which scales an extent of " +
                   std::to_string(extent) + " beyond the range from 0 to " + std::to_string(kMost),
               ""};
}

std::int64_t largest_extent(const TensorFact* fact) {
  std::int64_t largest = 1;
  if (fact == nullptr || !fact->known.extents) return largest;
  for (const KnownExtent& extent : *fact->known.extents) largest = std::max(largest, extent.extent);
  return largest;
}

Result<void> guard_attribute(const onnx::AttributeProto& attribute, const TensorFact* data) {
  const auto* found =
      std::lower_bound(std::begin(kAttributeLimits), std::end(kAttributeLimits), attribute.name(),
                       [](const AttributeLimits& entry, const std::string& name) { return entry.name < name; });
  if (found != std::end(kAttributeLimits) && found->name == attribute.name()) {
    if (attribute.has_i()) LOWTIDE_RETURN_IF_ERROR(guard_number(attribute.name(), attribute.i(), *found));
    for (const std::int64_t number : attribute.ints()) {
      LOWTIDE_RETURN_IF_ERROR(guard_number(attribute.name(), number, *found));
    }
    if (found->name == "perm") return guard_perm(attribute);
  }
  if (attribute.name() == "auto_pad") return guard_auto_pad(attribute);
  if (attribute.name() == "scales") {
    for (const float scale : attribute.floats()) {
      LOWTIDE_RETURN_IF_ERROR(guard_scales("attribute 'scales'", scale, largest_extent(data)));
    }
  }
  return {};
}

Result<void> guard_extents(const onnx::NodeProto& node, int index, const TensorFact& fact) {
  if (!fact.known.extents) return {};
  const auto rank = static_cast<std::int64_t>(fact.known.extents->size());
  if (rank > kRank) {
    return Error{ErrorCode::over_limit,
                 "input " + quoted(node.input(index)) + " has rank " + std::to_string(rank) + "; the limit is " +
                     std::to_string(kRank) + " (kMaxRank)",
                 ""};
  }
  for (const KnownExtent& extent : *fact.known.extents) {
    if (extent.extent >= 0 && extent.extent <= kMost) continue;
    return Error{ErrorCode::over_limit,
                 "input " + quoted(node.input(index)) + " has an extent of " + std::to_string(extent.extent) +
                     "; the limit is " + std::to_string(kMost) + " (kMaxTensorBytes)",
                 ""};
  }
  return {};
}

// Inputs, by operator, whose content is a list of sizes, counts or axes, and the range of its numbers.
struct ContentLimits {
  std::string_view type;
  int input;
  std::int64_t least;
  std::int64_t most;
};

constexpr ContentLimits kContentLimits[] = {
    {"BlackmanWindow", 0, 0, kMost},
    {"CenterCropPad", 1, 0, kMost},
    {"Col2Im", 1, 0, kMostSpatial},
    {"Col2Im", 2, 0, kMostSpatial},
    {"ConstantOfShape", 0, 0, kMost},
    {"CumProd", 1, -kRank, kRank},
    {"CumSum", 1, -kRank, kRank},
    {"DFT", 1, 0, kMost},
    {"DFT", 2, -kRank, kRank},
    {"Expand", 1, 0, kMost},
    {"HammingWindow", 0, 0, kMost},
    {"HannWindow", 0, 0, kMost},
    {"MelWeightMatrix", 0, 0, kMost},
    {"MelWeightMatrix", 1, 0, kMost},
    {"OneHot", 1, 0, kMost},
    {"Pad", 1, -kMost, kMost},
    {"Pad", 3, -kRank, kRank},
    {"ReduceL1", 1, -kRank, kRank},
    {"ReduceL2", 1, -kRank, kRank},
    {"ReduceLogSum", 1, -kRank, kRank},
    {"ReduceLogSumExp", 1, -kRank, kRank},
    {"ReduceMax", 1, -kRank, kRank},
    {"ReduceMean", 1, -kRank, kRank},
    {"ReduceMin", 1, -kRank, kRank},
    {"ReduceProd", 1, -kRank, kRank},
    {"ReduceSum", 1, -kRank, kRank},
    {"ReduceSumSquare", 1, -kRank, kRank},
    {"Reshape", 1, -1, kMost},
    {"Resize", 2, kLowest, kHighest},
    {"Resize", 3, 0, kMost},
    {"STFT", 1, 1, kMost},
    {"STFT", 3, 1, kMost},
    {"Slice", 1, kLowest, kHighest},
    {"Slice", 2, kLowest, kHighest},
    {"Slice", 3, -kRank, kRank},
    {"Split", 1, 0, kMost},
    {"SplitToSequence", 1, 0, kMost},
    {"Squeeze", 1, -kRank, kRank},
    {"Tile", 1, 0, kMost},
    {"TopK", 1, 0, kMost},
    {"Unsqueeze", 1, -kRank, kRank},
    {"Upsample", 1, kLowest, kHighest},
};
constexpr bool is_before(const ContentLimits& a, const ContentLimits& b) { return a.type < b.type; }
static_assert(std::is_sorted(std::begin(kContentLimits), std::end(kContentLimits), is_before));

const KnownContent* content_of(std::span<const TensorFact* const> inputs, std::size_t index) {
  if (index >= inputs.size() || inputs[index] == nullptr) return nullptr;
  return inputs[index]->known.content.get();
}

// Refuses a list of more than 2 * kMaxRank numbers, because the library makes an axis for every number, even for
// unknown ones. The list of a Split is not limited, because it has one number per part.
Result<void> guard_length(const onnx::NodeProto& node, const TensorFact& fact, const ContentLimits& bounds) {
  if (!fact.known.extents || bounds.type == "Split" || bounds.type == "SplitToSequence") return {};
  const std::vector<KnownExtent>& extents = *fact.known.extents;
  constexpr std::int64_t kMostNumbers = 2 * kRank;
  const std::int64_t length = extents.empty() ? 1 : extents.front().extent;
  if (extents.size() <= 1 && length <= kMostNumbers) return {};
  return Error{ErrorCode::invalid,
               "input " + quoted(node.input(bounds.input)) + " has rank " + std::to_string(extents.size()) +
                   " and a first extent of " + std::to_string(length) + "; expected a list of at most " +
                   std::to_string(kMostNumbers) + " numbers",
               ""};
}

Result<void> guard_content(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs,
                           const ContentLimits& bounds) {
  const auto index = static_cast<std::size_t>(bounds.input);
  if (index >= inputs.size() || inputs[index] == nullptr) return {};
  LOWTIDE_RETURN_IF_ERROR(guard_length(node, *inputs[index], bounds));
  const KnownContent* content = content_of(inputs, index);
  if (content == nullptr) return {};
  for (const KnownElement& element : content->elements) {
    if (element.knowledge == Knowledge::unknown) continue;
    if (element.integer < bounds.least || element.integer > bounds.most) {
      return out_of_limits("input " + quoted(node.input(bounds.input)), element.integer, bounds.least, bounds.most);
    }
  }
  return {};
}

// Checks contents of f32 that scale extents.
Result<void> guard_scale_input(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs, int index) {
  const KnownContent* content = content_of(inputs, static_cast<std::size_t>(index));
  if (content == nullptr || content->dtype != DType::f32) return {};
  for (const KnownElement& element : content->elements) {
    if (element.knowledge == Knowledge::unknown) continue;
    LOWTIDE_RETURN_IF_ERROR(
        guard_scales("input " + quoted(node.input(index)), element.real, largest_extent(inputs.front())));
  }
  return {};
}

// Checks the number of elements of a Range in double precision, as the library computes it.
Result<void> guard_range(std::span<const TensorFact* const> inputs) {
  double numbers[3] = {};
  for (std::size_t i = 0; i < 3; ++i) {
    const KnownContent* content = content_of(inputs, i);
    if (content == nullptr || content->elements.size() != 1) return {};
    const KnownElement& element = content->elements[0];
    if (element.knowledge == Knowledge::unknown) return {};
    numbers[i] = is_float(content->dtype) ? element.real : static_cast<double>(element.integer);
  }
  if (numbers[2] == 0) return Error{ErrorCode::invalid, "the step ('delta') of the Range is 0", ""};
  const double count = std::ceil((numbers[1] - numbers[0]) / numbers[2]);
  if (std::fabs(count) <= static_cast<double>(kMost)) return {};
  return Error{ErrorCode::over_limit,
               "the Range from " + std::to_string(numbers[0]) + " to " + std::to_string(numbers[1]) + " by " +
                   std::to_string(numbers[2]) + " has more than " + std::to_string(kMost) +
                   " elements (kMaxTensorBytes)",
               ""};
}

// Accepts letters, at most one ellipsis per term, and at most one arrow. On some other texts, the library would never
// return.
Result<void> guard_equation(const onnx::NodeProto& node) {
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    if (attribute.name() != "equation") continue;
    const Error refused = {ErrorCode::invalid,
                           "attribute 'equation' is " + quoted(attribute.s()) + ", which is not an einsum equation",
                           ""};
    std::string text = attribute.s();
    text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
    if (const std::size_t arrow = text.find("->"); arrow != std::string::npos) text.replace(arrow, 2, ",");
    bool has_ellipsis = false;
    for (std::size_t at = 0; at < text.size(); ++at) {
      const char c = text[at];
      if (c == ',') {
        has_ellipsis = false;
      } else if (c == '.') {
        if (has_ellipsis || text.compare(at, 3, "...") != 0) return refused;
        has_ellipsis = true;
        at += 2;
      } else if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))) {
        return refused;
      }
    }
  }
  return {};
}

Result<void> guard_steps(std::span<const TensorFact* const> inputs) {
  const KnownContent* steps = content_of(inputs, 4);
  if (steps == nullptr) return {};
  for (const KnownElement& element : steps->elements) {
    if (element.knowledge == Knowledge::exact && element.integer == 0) {
      return Error{ErrorCode::invalid, "the Slice has a step of 0", ""};
    }
  }
  return {};
}

}  // namespace

Result<void> guard_node(const onnx::NodeProto& node, std::span<const TensorFact* const> inputs) {
  const std::string& type = node.op_type();
  const TensorFact* data = inputs.empty() ? nullptr : inputs.front();
  for (const onnx::AttributeProto& attribute : node.attribute()) {
    LOWTIDE_RETURN_IF_ERROR(guard_attribute(attribute, data));
  }
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    const TensorFact* fact = inputs[static_cast<std::size_t>(i)];
    if (fact != nullptr) LOWTIDE_RETURN_IF_ERROR(guard_extents(node, i, *fact));
  }
  const auto [begin, end] =
      std::equal_range(std::begin(kContentLimits), std::end(kContentLimits), ContentLimits{type, 0, 0, 0}, is_before);
  for (const ContentLimits* bounds = begin; bounds != end; ++bounds) {
    LOWTIDE_RETURN_IF_ERROR(guard_content(node, inputs, *bounds));
  }
  if (type == "Upsample") return guard_scale_input(node, inputs, 1);
  if (type == "Resize") return guard_scale_input(node, inputs, inputs.size() > 2 ? 2 : 1);  // opset 10: X, scales
  if (type == "Range") return guard_range(inputs);
  if (type == "Slice") return guard_steps(inputs);
  if (type == "Einsum") return guard_equation(node);
  return guard_groups(node, inputs);
}

}  // namespace lowtide::import_internal

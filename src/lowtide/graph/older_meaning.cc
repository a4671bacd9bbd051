// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/graph/older_meaning.h"

#include <algorithm>
#include <iterator>

namespace lowtide {
namespace {

struct ChangedMeaning {
  std::string_view type;
  int since;  // the opset that introduced the newest meaning
};

constexpr ChangedMeaning kChangedMeanings[] = {
    {"AveragePool", 19},         // the last window of a ceil_mode counts no positions beyond the padding
    {"BatchNormalization", 14},  // training is an attribute; before, it followed from the number of outputs
    {"DFT", 20},                 // the axis is an operand, the last but one if it is omitted; before, axis 1
    {"Dropout", 12},             // training is an input; before, there was none
    {"GroupNormalization", 21},  // scale and bias per channel; before, per group
    {"Hardmax", 13},             // one axis; before, all axes from `axis` on
    {"LogSoftmax", 13},          // like Hardmax
    {"Resize", 11},              // modes of coordinates; before, asymmetric and rounded down
    {"RoiAlign", 16},            // half_pixel; before, output_half_pixel
    {"Scan", 9},                 // no batch; before, the first axis was one
    {"Softmax", 13},             // like Hardmax
};

}  // namespace

std::optional<int> opset_of_newest_meaning(std::string_view type) {
  const auto* found = std::find_if(std::begin(kChangedMeanings), std::end(kChangedMeanings),
                                   [&](const ChangedMeaning& known) { return known.type == type; });
  return found == std::end(kChangedMeanings) ? std::nullopt : std::optional(found->since);
}

}  // namespace lowtide

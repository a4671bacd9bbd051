// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/proto/operator_meaning.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "lowtide/graph/lowered.h"

namespace lowtide::import_internal {
namespace {

struct Meaning {
  const char* type;
  int since;  // the opset that introduced the newest meaning
};

constexpr Meaning kMeanings[] = {
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

std::optional<Attribute> older_meaning_of(const onnx::NodeProto& node, const OpsetImports& opsets) {
  if (!normalized_domain(node.domain()).empty()) return std::nullopt;
  const auto* meaning = std::find_if(std::begin(kMeanings), std::end(kMeanings),
                                     [&](const Meaning& known) { return node.op_type() == known.type; });
  if (meaning == std::end(kMeanings)) return std::nullopt;
  const int since = find_schema(node.op_type(), opsets.find("")->second, "")->SinceVersion();
  if (since >= meaning->since) return std::nullopt;
  return Attribute{std::string(kSinceAttribute), std::int64_t{since}};
}

}  // namespace lowtide::import_internal

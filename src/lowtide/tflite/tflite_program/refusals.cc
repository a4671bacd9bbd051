// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/tflite/tflite_program/refusals.h"

#include <algorithm>
#include <cstddef>

#include "lowtide/base/quote.h"

namespace lowtide::tflite_program_internal {
namespace {

constexpr std::size_t kMostLines = 20;

}  // namespace

void Refusals::add(std::string_view type, std::uint32_t op, const Error& error) {
  if (refused_.empty()) code_ = error.code;
  const auto is_same = [&](const Refusal& one) { return one.type == type && one.why == error.message; };
  if (const auto same = std::ranges::find_if(refused_, is_same); same != refused_.end()) {
    ++same->count;
  } else if (refused_.size() < kMostLines) {
    refused_.push_back({std::string(type), error.message, op});
  } else {
    ++rest_;
  }
}

Error Refusals::error() const {
  std::string text = "C source cannot be made of this model:";
  for (const Refusal& one : refused_) {
    text += "\n  " + quoted(one.type, 60) + ", operator " + std::to_string(one.first) + " of subgraph 0";
    if (one.count > 1) text += " and " + std::to_string(one.count - 1) + " more";
    text += ": " + one.why;
  }
  if (rest_ > 0) text += "\n  and " + std::to_string(rest_) + " more operators";
  if (code_ == ErrorCode::unsupported) {
    text += "\nTensorFlow Lite Micro may have kernels for all of it; lowtide plan --tflm plans its memory";
  }
  return {code_, text, ""};
}

}  // namespace lowtide::tflite_program_internal

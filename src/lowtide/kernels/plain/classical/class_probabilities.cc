// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/plain/classical/class_probabilities.h"

#include <algorithm>
#include <cmath>

namespace lowtide::kernels_internal {
namespace {

// The matrix of the quadratic form that is minimized.
void fill_form(std::span<const double> pairs, std::size_t classes, std::span<double> form) {
  for (std::size_t row = 0; row < classes; ++row) {
    double diagonal = 0;
    for (std::size_t other = 0; other < classes; ++other) {
      if (other == row) continue;
      const double toward_other = pairs[other * classes + row];
      diagonal += toward_other * toward_other;
      form[row * classes + other] = -toward_other * pairs[row * classes + other];
    }
    form[row * classes + row] = diagonal;
  }
}

}  // namespace

void couple_probabilities(std::span<const double> pairs, std::span<double> probabilities, std::span<double> scratch) {
  constexpr int kMostRounds = 100;
  const std::size_t classes = probabilities.size();
  const double tolerance = 0.005 / static_cast<double>(classes);
  const std::span<double> form = scratch.first(classes * classes);
  const std::span<double> gradient = scratch.subspan(classes * classes, classes);
  fill_form(pairs, classes, form);
  std::ranges::fill(probabilities, 1 / static_cast<double>(classes));
  for (int round = 0; round < kMostRounds; ++round) {
    double value = 0;
    for (std::size_t row = 0; row < classes; ++row) {
      gradient[row] = 0;
      for (std::size_t at = 0; at < classes; ++at) gradient[row] += form[row * classes + at] * probabilities[at];
      value += probabilities[row] * gradient[row];
    }
    double error = 0;
    for (double entry : gradient) error = std::max(error, std::abs(entry - value));
    if (error < tolerance) return;
    // One coordinate after another; then all are scaled to add up to 1 again.
    for (std::size_t at = 0; at < classes; ++at) {
      const double diagonal = form[at * classes + at];
      const double step = (value - gradient[at]) / diagonal;
      const double scale = 1 / (1 + step);
      probabilities[at] += step;
      value = (value + step * (step * diagonal + 2 * gradient[at])) * scale * scale;
      for (std::size_t other = 0; other < classes; ++other) {
        gradient[other] = (gradient[other] + step * form[at * classes + other]) * scale;
        probabilities[other] *= scale;
      }
    }
  }
}

}  // namespace lowtide::kernels_internal

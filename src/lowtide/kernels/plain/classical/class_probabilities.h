// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <span>

namespace lowtide::kernels_internal {

// The numbers of scratch that couple_probabilities() needs for as many classes.
[[nodiscard]] constexpr std::size_t coupling_numbers(std::size_t classes) { return classes * classes + classes; }

// The probabilities of classes, given those of all pairs: pairs[i * n + j] is that of class i if the class is i or j.
// The method is the second one of Wu, Lin and Weng (2004), "Probability Estimates for Multi-class Classification by
// Pairwise Coupling": it minimizes the sum of (r_ji p_i - r_ij p_j)^2. Each of at most 100 rounds takes O(n^2).
void couple_probabilities(std::span<const double> pairs, std::span<double> probabilities, std::span<double> scratch);

}  // namespace lowtide::kernels_internal

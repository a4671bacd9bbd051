// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/onednn/gathered_convolution.h"

namespace lowtide::kernels_internal {

// How bytes of an image are gathered.
struct GatheredBytes {
  std::uint8_t flip = 0;     // bits of each byte that change
  std::uint8_t padding = 0;  // what is outside of the image, after the change
};

// Gathers what the window covers at some places of the result: to[channel, row tap, column tap][place]. `channels` are
// those of one group of one image. The places are not empty.
void gather_places(const GatheredConvolution& of, const std::uint8_t* channels, Interval<std::int64_t> places,
                   const GatheredBytes& bytes, std::uint8_t* to);

}  // namespace lowtide::kernels_internal

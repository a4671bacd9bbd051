// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/kernels/onednn/gather_places.h"

#include <algorithm>

#include "lowtide/kernels/common/byte_rows.h"

namespace lowtide::kernels_internal {
namespace {

// Neighboring results of one row, for one tap. It is the same for all channels.
struct GatheredRun {
  std::int64_t before = 0;  // results whose tap is in front of the row
  std::int64_t inside = 0;
  std::int64_t after = 0;
  std::int64_t first = 0;  // where the tap of the first result inside is, in a channel
  std::int64_t stride = 1;
};

void gather_run(const GatheredRun& run, const std::uint8_t* channel, const GatheredBytes& bytes, std::uint8_t* to) {
  for (std::int64_t at = 0; at < run.before; ++at) to[at] = bytes.padding;
  const std::uint8_t* from = channel + run.first;
  to += run.before;
  if (run.stride == 1) {
    copy_flipped(from, run.inside, bytes.flip, to);
  } else {
    for (std::int64_t at = 0; at < run.inside; ++at) to[at] = from[at * run.stride] ^ bytes.flip;
  }
  to += run.inside;
  for (std::int64_t at = 0; at < run.after; ++at) to[at] = bytes.padding;
}

// `count` results of a row of the result from `column` on, for a tap.
GatheredRun run_of(const GatheredConvolution& of, std::int64_t row, std::int64_t column, std::int64_t count,
                   std::int64_t column_tap) {
  const GatheredAxis& axis = of.columns;
  if (row < 0 || row >= of.rows.in) return {.before = count};
  const std::int64_t first = column * axis.stride - axis.pad + column_tap * axis.dilation;
  const auto results_up_to = [&](std::int64_t place) {  // those whose tap is in front of a place
    const std::int64_t results = place > first ? (place - first + axis.stride - 1) / axis.stride : 0;
    return std::min(results, count);
  };
  const std::int64_t before = results_up_to(0);
  const std::int64_t end = std::max(before, results_up_to(axis.in));
  return {.before = before,
          .inside = end - before,
          .after = count - end,
          .first = before == end ? 0 : row * axis.in + first + before * axis.stride,
          .stride = axis.stride};
}

// What gather_places() gets.
struct GatherInput {
  const GatheredConvolution& of;
  const std::uint8_t* channels = nullptr;
  Interval<std::int64_t> places;
  const GatheredBytes& bytes;
};

// All channels of one tap.
void gather_tap(const GatherInput& input, std::int64_t tap, std::uint8_t* to) {
  const GatheredConvolution& of = input.of;
  const std::int64_t taps = of.rows.taps * of.columns.taps;
  const std::int64_t count = input.places.end - input.places.begin;
  std::int64_t column = input.places.begin % of.columns.out;
  std::int64_t done = 0;
  for (std::int64_t at_row = input.places.begin / of.columns.out; done < count; ++at_row, column = 0) {
    const std::int64_t length = std::min(of.columns.out - column, count - done);
    const std::int64_t row = at_row * of.rows.stride - of.rows.pad + tap / of.columns.taps * of.rows.dilation;
    const GatheredRun run = run_of(of, row, column, length, tap % of.columns.taps);
    for (std::int64_t channel = 0; channel < of.channels; ++channel) {
      const std::uint8_t* const image = input.channels + channel * of.rows.in * of.columns.in;
      gather_run(run, image, input.bytes, to + (channel * taps + tap) * count + done);
    }
    done += length;
  }
}

}  // namespace

void gather_places(const GatheredConvolution& of, const std::uint8_t* channels, Interval<std::int64_t> places,
                   const GatheredBytes& bytes, std::uint8_t* to) {
  const GatherInput input{of, channels, places, bytes};
  for (std::int64_t tap = 0; tap < of.rows.taps * of.columns.taps; ++tap) gather_tap(input, tap, to);
}

}  // namespace lowtide::kernels_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "lowtide/base/interval.h"
#include "lowtide/kernels/common/attributes.h"
#include "lowtide/kernels/common/lanes.h"
#include "lowtide/kernels/common/plain_family.h"
#include "lowtide/kernels/common/plain_kernel.h"
#include "lowtide/kernels/common/team_parts.h"
#include "lowtide/kernels/common/vector_clones.h"
#include "lowtide/kernels/plain/convolution/convolution.h"
#include "lowtide/kernels/plain/windows/transposed_window.h"

namespace lowtide::kernels_internal {
namespace {

struct TransposedParameters {
  TransposedAttributes attributes;
  std::int64_t groups = 1;
  int threads = 1;
};

// The window from the result to the operand.
std::optional<Window> transposed_window(const TransposedAttributes& attributes, const Extents& from,
                                        const Extents& weights) {
  const auto spatial = static_cast<std::size_t>(std::max(from.rank() - 2, 0));
  const bool agrees =
      spatial >= 1 && spatial <= kMostSpatial && weights.rank() == from.rank() && has_axes(attributes, spatial);
  if (!agrees) return std::nullopt;
  Window window;
  for (std::size_t at = 0; at < spatial; ++at) {
    const int number = static_cast<int>(2 + at);
    const auto axis = transposed_axis(attributes, spatial, at, from[number], weights[number]);
    if (!axis) return std::nullopt;
    window.axes[kMostSpatial - spatial + at] = *axis;
  }
  return window;
}

// Neighboring elements of an operand's plane, whatever its rows are.
constexpr std::int64_t kElements = 64;
// Neighboring taps of one channel, of one or more planes of the result: a line of a cache.
constexpr std::int64_t kFactors = 16;
// Factors whose sums fit into registers together.
constexpr std::int64_t kSummed = 4;
using Sums = std::array<std::array<float, kElements>, kSummed>;

// Copies of elements and factors, one channel behind another. The originals are often at distances that the sets of a
// cache share.
struct CopiedChannels {
  float* elements = nullptr;  // [channel][kElements]
  float* factors = nullptr;   // [channel][kFactors]
  std::int64_t channels = 0;

  static constexpr std::int64_t size(std::int64_t channels) { return channels * (kElements + kFactors); }
  CopiedChannels(float* scratch, std::int64_t count)
      : elements(scratch), factors(scratch + count * kElements), channels(count) {}
};

// The sums over all channels of the products of the elements with some factors.
LOWTIDE_VECTOR_CLONES void sum_products(const CopiedChannels& copied, std::int64_t first_factor, Sums& result) {
  constexpr std::size_t kParts = kElements / kSumLanes;
  std::array<std::array<FloatLanes, kParts>, kSummed> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
  for (auto& of_factor : sums) {
    for (FloatLanes& part : of_factor) part.values = FloatLanes{}.values;
  }
  const float* elements = copied.elements;
  const float* factors = copied.factors + first_factor;
  for (std::int64_t channel = 0; channel < copied.channels; ++channel, elements += kElements, factors += kFactors) {
    std::array<FloatLanes, kParts> x;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::size_t part = 0; part < kParts; ++part)
      std::memcpy(&x[part], elements + part * kSumLanes, sizeof x[part]);
    for (std::size_t factor = 0; factor < kSummed; ++factor) {
      for (std::size_t part = 0; part < kParts; ++part) sums[factor][part].values += factors[factor] * x[part].values;
    }
  }
  // One register after another: a copy of all sums at once would make the loop keep them in memory.
  for (std::size_t factor = 0; factor < kSummed; ++factor) {
    for (std::size_t part = 0; part < kParts; ++part) {
      std::memcpy(result[factor].data() + part * kSumLanes, &sums[factor][part], sizeof sums[factor][part]);
    }
  }
}

// Copies rows of `kRow` floats, or of the first `count` of them, with zeros behind these.
template <std::int64_t kRow>
LOWTIDE_VECTOR_CLONES void copy_rows(const float* from, std::int64_t step, std::int64_t rows, std::int64_t count,
                                     float* to) {
  if (count == kRow) {
    for (std::int64_t row = 0; row < rows; ++row, from += step, to += kRow) std::memcpy(to, from, kRow * sizeof(float));
    return;
  }
  for (std::int64_t row = 0; row < rows; ++row, from += step, to += kRow) {
    std::copy_n(from, count, to);
    std::fill_n(to + count, kRow - count, 0.0F);
  }
}

// The sums of one tap for neighboring elements of the operand.
struct TapSums {
  std::int64_t tap = 0;
  std::int64_t first = 0;  // element of the plane
  std::int64_t count = 0;
  const float* sums = nullptr;
};

// The row of a plane of the result to which a row of elements of the operand adds, or nullptr if it is outside.
float* line_of(const Window& window, std::int64_t tap, std::int64_t row_of_operand, float* to) {
  const auto& [depth, down, across] = window.axes;
  const std::int64_t z = depth.position(row_of_operand / down.out, tap / across.kernel / down.kernel);
  const std::int64_t y = down.position(row_of_operand % down.out, tap / across.kernel % down.kernel);
  const bool is_inside = z >= 0 && z < depth.in && y >= 0 && y < down.in;
  return is_inside ? to + (z * down.in + y) * across.in : nullptr;
}

// Calls run(row of the operand, its first column, its columns, how many elements came before) for the rows of some
// elements.
template <typename Run>
void for_rows_of(const TapSums& of, std::int64_t columns, const Run& run) {
  for (std::int64_t at = of.first; at < of.first + of.count;) {
    const std::int64_t column = at % columns;
    const std::int64_t end = std::min(of.first + of.count, at - column + columns);
    run(at / columns, column, end - at, at - of.first);
    at = end;
  }
}

// Adds the sums to the elements of the result to which the tap belongs. The window is that from the result to the
// operand, so its operand is the plane of the result.
void spread(const Window& window, const TapSums& of, float* to) {
  const WindowAxis& across = window.axes[2];
  for_rows_of(of, across.out, [&](std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t before) {
    float* line = line_of(window, of.tap, row, to);
    if (line == nullptr) return;
    std::int64_t x = across.position(column, of.tap % across.kernel);
    for (std::int64_t at = 0; at < count; ++at, x += across.stride) {
      if (x >= 0 && x < across.in) line[x] += of.sums[before + at];
    }
  });
}

// Whether the taps of a row come in pairs whose elements alternate in the result.
bool has_pairs(const WindowAxis& across) {
  return across.kernel == 2 && across.stride == 2 && across.dilation == 1 && across.pad_begin == 0 &&
         across.in >= 2 * across.out;
}

LOWTIDE_VECTOR_CLONES void add_pairs(const float* even, const float* odd, float* to, std::int64_t count) {
  for (std::int64_t at = 0; at < count; ++at) {
    to[2 * at] += even[at];
    to[2 * at + 1] += odd[at];
  }
}

// Does what spread() does, for a tap and the next one. Requires: has_pairs(), and the tap is the first of a row.
void spread_pair(const Window& window, const TapSums& of, const float* next, float* to) {
  const WindowAxis& across = window.axes[2];
  for_rows_of(of, across.out, [&](std::int64_t row, std::int64_t column, std::int64_t count, std::int64_t before) {
    float* line = line_of(window, of.tap, row, to);
    if (line != nullptr) add_pairs(of.sums + before, next + before, line + 2 * column, count);
  });
}

// The planes of the result. The weights are [C, M / groups, taps...].
class TransposedPlanes {
 public:
  TransposedPlanes(const Window& window, const Operands& operands, std::int64_t groups)
      : window_(window),
        from_(elements<float>(operands.reads[0])),
        weights_(elements<float>(operands.reads[1])),
        bias_(has_operand(operands.reads, 2) ? elements<float>(operands.reads[2]) : nullptr),
        to_(mutable_elements<float>(operands.writes[0])),
        channels_(operands.reads[0].extents[1] / groups),
        groups_(groups),
        results_of_group_(operands.reads[1].extents[1]),
        taps_(window.axes[0].kernel * window.axes[1].kernel * window.axes[2].kernel),
        count_(operands.reads[0].extents[0] * groups * results_of_group_),
        has_pairs_(has_pairs(window.axes[2])) {}

  [[nodiscard]] std::int64_t count() const { return count_; }
  [[nodiscard]] std::int64_t products() const { return count_ * channels_ * taps_ * window_.out_count(); }

  void fill_bias(std::int64_t plane) const {
    std::fill_n(to_ + plane * window_.in_count(), window_.in_count(),
                bias_ == nullptr ? 0.0F : bias_[plane % (groups_ * results_of_group_)]);
  }

  // Planes of one share of the work, the elements of one group after those of another. Each element of the result adds
  // its terms in the order of the elements and taps, so its bits do not depend on the threads. `scratch` has
  // CopiedChannels::size() elements.
  void compute(Interval<std::int64_t> planes, float* scratch) const {
    const CopiedChannels copied(scratch, channels_);
    for (std::int64_t plane = planes.begin; plane < planes.end; ++plane) fill_bias(plane);
    for (std::int64_t begin = planes.begin; begin < planes.end;) {
      const std::int64_t group = begin / results_of_group_;  // of all images
      const std::int64_t end = std::min((group + 1) * results_of_group_, planes.end);
      const Interval<std::int64_t> factors{begin * taps_, end * taps_};
      for (std::int64_t first = 0; first < window_.out_count(); first += kElements) {
        copy_elements(group, first, copied.elements);
        for (std::int64_t factor = factors.begin; factor < factors.end; factor += kFactors) {
          const Interval<std::int64_t> some{factor, std::min(factor + kFactors, factors.end)};
          copy_factors(group, some, copied.factors);
          add(some, first, copied);
        }
      }
      begin = end;
    }
  }

 private:
  // Neighboring elements of all planes of a group of an image, with zeros behind the last one.
  void copy_elements(std::int64_t group, std::int64_t first, float* to) const {
    const float* from = from_ + group * channels_ * window_.out_count() + first;
    const std::int64_t count = std::min(kElements, window_.out_count() - first);
    copy_rows<kElements>(from, window_.out_count(), channels_, count, to);
  }

  // Neighboring taps of all channels of a group of an image, with zeros behind the last one. Taps are counted over all
  // planes of all images.
  void copy_factors(std::int64_t group, Interval<std::int64_t> factors, float* to) const {
    const std::int64_t of_channel = results_of_group_ * taps_;
    const float* from = weights_ + group % groups_ * channels_ * of_channel + factors.begin - group * of_channel;
    copy_rows<kFactors>(from, of_channel, channels_, factors.end - factors.begin, to);
  }

  void add(Interval<std::int64_t> factors, std::int64_t first, const CopiedChannels& copied) const {
    const std::int64_t elements = std::min(kElements, window_.out_count() - first);
    Sums sums;  // NOLINT(cppcoreguidelines-pro-type-member-init)
    for (std::int64_t begin = factors.begin; begin < factors.end; begin += kSummed) {
      sum_products(copied, begin - factors.begin, sums);
      const std::int64_t end = std::min(begin + kSummed, factors.end);
      for (std::int64_t factor = begin; factor < end; ++factor) {
        const float* of_factor = sums[static_cast<std::size_t>(factor - begin)].data();
        float* const to = to_ + factor / taps_ * window_.in_count();
        const TapSums of{factor % taps_, first, elements, of_factor};
        if (has_pairs_ && factor % 2 == 0 && factor + 1 < end) {
          spread_pair(window_, of, of_factor + kElements, to);
          ++factor;
        } else {
          spread(window_, of, to);
        }
      }
    }
  }

  const Window& window_;
  const float* from_;
  const float* weights_;
  const float* bias_;  // nullptr: none
  float* to_;
  std::int64_t channels_;  // of the operand in a group
  std::int64_t groups_;
  std::int64_t results_of_group_;
  std::int64_t taps_;
  std::int64_t count_;  // of all images
  bool has_pairs_;
};

// `threads`: for which the scratch has space.
RunCode spread_all(const TransposedPlanes& planes, std::int64_t channels, float* scratch, int threads, Team& team) {
  const auto products = static_cast<double>(planes.products());
  const int shares = team.threads() > 1 ? threads_with_work(threads, planes.count(), products) : 1;
  return run_shares(team, shares, [&](int share) {
    planes.compute({planes.count() * share / shares, planes.count() * (share + 1) / shares},
                   scratch + share * CopiedChannels::size(channels));
    return RunCode::ok;
  });
}

RunStatus run_transposed(const TransposedParameters& parameters, const Operands& operands, Team& team) {
  const Extents from(extents_of(operands.reads[0]));
  const Extents weights(extents_of(operands.reads[1]));
  const std::optional<Window> window = transposed_window(parameters.attributes, from, weights);
  const std::int64_t groups = parameters.groups;
  if (!window || groups < 1 || from[1] != weights[0] || from[1] % groups != 0) return {RunCode::bad_extents, 1};
  const std::int64_t channels = weights[1] * groups;
  if (has_operand(operands.reads, 2) && count_of(operands.reads[2]) != channels) return {RunCode::bad_extents, 2};
  Extents to{from[0], channels};
  for (std::size_t at = kMostSpatial + 2 - static_cast<std::size_t>(from.rank()); at < kMostSpatial; ++at) {
    to.push_back(window->axes[at].in);
  }
  if (const RunStatus status = set_extents(operands.writes[0], to); status.code != RunCode::ok) return status;
  return {spread_all(TransposedPlanes(*window, operands, groups), from[1] / groups,
                     reinterpret_cast<float*>(operands.scratch), parameters.threads, team),
          0};
}

Bytes transposed_scratch(const Graph& graph, const Node& node, int threads) {
  const Shape& from = graph.tensor(*node.inputs[0]).shape;
  const std::int64_t groups = integer_attribute(node, "group", 1);
  if (from.rank() < 3 || groups < 1) return {};
  return Bytes(CopiedChannels::size(from[1] / groups)) * (threads * std::int64_t{sizeof(float)});
}

PreparedResult prepare_transposed(const PrepareInput& input) {
  const Node& node = node_of(input);
  TransposedParameters parameters{.attributes = transposed_attributes(node),
                                  .groups = integer_attribute(node, "group", 1),
                                  .threads = input.threads};
  return plain_kernel(input, &run_transposed, std::move(parameters));
}

constexpr std::array kTransposedTable{
    PlainOperator{.op = on_floats("ConvTranspose"),
                  .operands = 2,
                  .prepare = &prepare_transposed,
                  .missing = &missing_convolution,
                  .scratch = &transposed_scratch,
                  .widens_half = true},
};
constexpr std::array kTransposedOperators = operators_of(kTransposedTable);

}  // namespace

Family transposed_convolution_family() {
  return {.name = "transposed convolution",
          .operators = kTransposedOperators,
          .offer = [](const OfferInput& input) { return offer_from(kTransposedTable, input); },
          .prepare = [](const PrepareInput& input) { return prepare_from(kTransposedTable, input); }};
}

}  // namespace lowtide::kernels_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "lowtide/base/interval.h"
#include "lowtide/graph/chain.h"
#include "lowtide/kernels/common/broadcast_rows.h"

namespace lowtide::kernels_internal {

// Some neighboring elements of a result of broadcast operands. Each operand advances with the result, with step 1, or
// repeats one element, with step 0.
struct RowPart {
  std::array<const std::byte*, kMostChainOperands> reads{};  // nullptr: an omitted operand
  std::array<std::int64_t, kMostChainOperands> steps{};
  std::byte* write = nullptr;
  std::int64_t count = 0;
};

// Divides a range of a result into parts. An operand that begins again every few elements (broadcast_rows.h) is copied
// until it is as long as a part.
class RowParts {
 public:
  // Parts have at most `most` elements. Requires: at most kMostChainOperands operands; broadcast(operands) gives
  // `extents`.
  RowParts(std::span<const BoundTensor> operands, const BoundTensor& result, const Extents& extents, std::int64_t most)
      : operands_(operands),
        result_(result),
        extents_(extents),
        most_(most),
        bytes_of_result_(element_bytes(result.dtype)) {
    for (std::size_t read = 0; read < operands.size(); ++read) {
      bytes_of_operand_[read] = element_bytes(operands[read].dtype);
    }
    const BroadcastRows rows(operands, extents, true);
    const auto is_periodic = [&](const BoundTensor& from) { return is_present(from) && rows.period_in(from) > 0; };
    joins_short_rows_ = std::ranges::count_if(operands, is_periodic) <= kMostPeriodic;
  }

  // Calls run(const RowPart&) for each part of the elements [begin, end) of the result, and returns its first code that
  // is not ok.
  template <typename Run>
  RunCode run(Interval<std::int64_t> elements, const Run& run) {
    std::int64_t row_begin = 0;
    for (BroadcastRows rows(operands_, extents_, joins_short_rows_); !rows.is_done() && row_begin < elements.end;
         rows.advance()) {
      const std::int64_t begin = std::max<std::int64_t>(elements.begin - row_begin, 0);
      const std::int64_t end = std::min(elements.end - row_begin, rows.length());
      if (begin < end) {
        const RunCode code = run_row(rows, row_begin, {begin, end}, run);
        if (code != RunCode::ok) return code;
      }
      row_begin += rows.length();
    }
    return RunCode::ok;
  }

 private:
  static constexpr std::int64_t kPeriodic = 256;      // elements of a part with such an operand
  static constexpr std::ptrdiff_t kMostPeriodic = 4;  // operands that begin again; with more of them, rows stay short
  struct Copy {
    Copy() {}  // NOLINT(cppcoreguidelines-pro-type-member-init)
    alignas(64) std::array<std::byte, (kPeriodic + BroadcastRows::kMostPeriod) * sizeof(double)> bytes;
  };

  template <typename Run>
  RunCode run_row(const BroadcastRows& rows, std::int64_t row_begin, Interval<std::int64_t> elements, const Run& run) {
    // No more than there are, so that the last step does not overflow.
    const std::int64_t most = std::min(most_, copy_periodic(rows) ? kPeriodic : elements.end - elements.begin);
    for (std::int64_t at = elements.begin; at < elements.end; at += most) {
      RowPart part{.count = std::min(most, elements.end - at)};
      part.write = *result_.bytes + (row_begin + at) * bytes_of_result_;
      std::size_t copy = 0;
      for (std::size_t read = 0; read < operands_.size(); ++read) {
        const BoundTensor& from = operands_[read];
        if (!is_present(from)) continue;
        const std::int64_t period = rows.period_in(from);
        const std::byte* const begin =
            period > 0 ? copies_[copy++].bytes.data() : *from.bytes + rows.begin_in(from) * bytes_of_operand_[read];
        part.steps[read] = rows.step_in(from);
        part.reads[read] = begin + (period > 0 ? at % period : at * part.steps[read]) * bytes_of_operand_[read];
      }
      if (const RunCode code = run(part); code != RunCode::ok) return code;
    }
    return RunCode::ok;
  }

  // Returns whether an operand of the row begins again and again.
  bool copy_periodic(const BroadcastRows& rows) {
    std::size_t copy = 0;
    for (std::size_t read = 0; read < operands_.size(); ++read) {
      const BoundTensor& from = operands_[read];
      const std::int64_t period = is_present(from) ? rows.period_in(from) : 0;
      if (period == 0) continue;
      std::byte* const to = copies_[copy++].bytes.data();
      const std::int64_t unit = bytes_of_operand_[read];
      const std::byte* const begin = *from.bytes + rows.begin_in(from) * unit;
      const std::int64_t wanted = std::min(kPeriodic + period, rows.length());
      for (std::int64_t at = 0; at < wanted; at += period) {
        std::memcpy(to + at * unit, begin, static_cast<std::size_t>(std::min(period, kPeriodic + period - at) * unit));
      }
    }
    return copy > 0;
  }

  std::span<const BoundTensor> operands_;
  const BoundTensor& result_;
  const Extents& extents_;
  std::int64_t most_;
  bool joins_short_rows_ = false;
  std::int64_t bytes_of_result_;
  std::array<std::int64_t, kMostChainOperands> bytes_of_operand_{};
  std::array<Copy, kMostPeriodic> copies_;
};

}  // namespace lowtide::kernels_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/link_options.h"

#include <string>
#include <string_view>

#include "lowtide/base/bytes.h"
#include "lowtide/base/checked.h"
#include "lowtide/base/parse_duration.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/outcome.h"

namespace lowtide::cli_internal {
namespace {

constexpr std::int64_t kMostBytesPerSecond = 1'000'000'000'000'000;

// "12e9", "1.5e10": a decimal number with an exponent of at most 18, if it is whole.
std::optional<std::int64_t> parse_scientific(std::string_view text) {
  const std::size_t sign = text.find_first_of("eE");
  if (sign == std::string_view::npos) return std::nullopt;
  std::string_view exponent = text.substr(sign + 1);
  if (exponent.starts_with('+')) exponent.remove_prefix(1);
  const std::optional<std::int64_t> power = parse_number(exponent);
  if (!power || *power > 18) return std::nullopt;
  const std::string_view mantissa = text.substr(0, sign);
  const std::size_t point = mantissa.find('.');
  const std::string_view fraction = point == std::string_view::npos ? "" : mantissa.substr(point + 1);
  std::optional<std::int64_t> number = parse_number(std::string(mantissa.substr(0, point)) + std::string(fraction));
  const std::int64_t zeros = *power - static_cast<std::int64_t>(fraction.size());
  if (zeros < 0 || (point != std::string_view::npos && fraction.empty())) return std::nullopt;
  for (std::int64_t zero = 0; number && zero < zeros; ++zero) number = checked_multiply(*number, 10);
  return number;
}

std::optional<std::int64_t> parse_rate(std::string text) {
  if (text.ends_with("/s")) text.resize(text.size() - 2);
  if (const std::optional<std::int64_t> number = parse_scientific(text)) return number;
  const std::optional<Bytes> bytes = parse_bytes(text);
  return bytes ? std::optional(bytes->count()) : std::nullopt;
}

std::optional<std::int64_t> read_duration(const Arguments& arguments, std::string_view option, std::int64_t least) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  const std::optional<std::int64_t> time = parse_duration(*text);
  if (!time || *time < least || *time > kMaxTime) {
    stop_usage("'" + std::string(option) + "' must be a time such as 20us or 0.01ms, " +
               (least > 0 ? "at least 1ns and" : "and") + " below 13 days, not " + quoted(*text, 60));
  }
  return time;
}

}  // namespace

std::optional<TransferLink> read_link(const Arguments& arguments, const std::string& budget,
                                      const std::string& example) {
  const std::optional<std::string> rate = arguments.value("--link");
  for (std::string_view option : {"--link-latency", "--cost-unit"}) {
    if (!rate && arguments.has(option)) stop_usage("'" + std::string(option) + "' needs '--link'");
  }
  if (!rate) return std::nullopt;
  if (!arguments.has(budget)) {
    stop_usage("'--link' needs '" + budget + "', such as " + budget + " " + example + " --link 12e9");
  }
  const std::optional<std::int64_t> bytes = parse_rate(*rate);
  if (!bytes || *bytes < 1 || *bytes > kMostBytesPerSecond) {
    stop_usage("'--link' must be bytes per second, such as 12e9 or 11.5GiB, from 1 to 1e15, not " + quoted(*rate, 60));
  }
  return TransferLink{.bytes_per_second = *bytes,
                      .latency_nanoseconds = read_duration(arguments, "--link-latency", 0).value_or(0),
                      .nanoseconds_per_cost = read_duration(arguments, "--cost-unit", 1).value_or(0)};
}

}  // namespace lowtide::cli_internal

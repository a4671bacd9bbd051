// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/options.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/cli/output/tool_name.h"
#include "lowtide/cli/runtime.h"
#include "lowtide/target/description.h"

namespace lowtide::cli_internal {
namespace {

constexpr const char* kSizeTooLarge = "; a size must be below 2^63 bytes";

// A hint at why a text is not a size. Empty if there is none.
std::string size_hint(const std::string& text) {
  if (text.empty()) return "";
  if (text.starts_with('-')) return "; a size cannot be negative";
  std::size_t unit = text.find_first_not_of("0123456789. ");
  if (unit == std::string::npos) return is_too_large(text) ? kSizeTooLarge : "";
  const std::string number = text.substr(0, unit);
  const std::string letters = text.substr(unit);
  const bool is_whole = !number.empty() && number.find('.') == std::string::npos;
  if (letters == "B") return is_whole ? kSizeTooLarge : "; a size must be a whole number of bytes below 2^63";
  if (!number.empty() && (std::string("kKmMgGtT").find(letters[0]) != std::string::npos) && letters.size() <= 3) {
    std::string right = {static_cast<char>(std::toupper(letters[0])), 'i', 'B'};
    if (letters == right && is_whole) return kSizeTooLarge;
    if (letters == right) return "; a size must be a whole number of bytes below 2^63";
    return "; did you mean '" + number + right + "'?";
  }
  return "";
}

// Whether a node of the graph or of a body has this operator of the standard domain. Recursion is bounded by
// limits::kMaxBodyNesting.
bool has_operator(const Graph& graph, const std::string& type) {
  const auto& own = graph.operators();
  if (std::any_of(own.begin(), own.end(), [&](const Operator& op) { return op.domain.empty() && op.type == type; }))
    return true;
  return std::any_of(graph.nodes().begin(), graph.nodes().end(), [&](const Node& node) {
    return std::any_of(node.bodies.begin(), node.bodies.end(),
                       [&](const Body& body) { return has_operator(*body.graph, type); });
  });
}

}  // namespace

bool is_too_large(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos && !parse_number(text);
}

std::optional<Bytes> read_size(const Arguments& arguments, std::string_view option) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  const std::optional<Bytes> size = parse_bytes(*text);
  if (!size) {
    stop_usage("'" + std::string(option) + "' must be a size such as 64MiB, 1.5GiB or 4096, not " + quoted(*text, 60) +
               size_hint(*text));
  }
  return size;
}

std::optional<Bytes> read_positive_size(const Arguments& arguments, std::string_view option) {
  const std::optional<Bytes> size = read_size(arguments, option);
  if (size == Bytes(0)) stop_usage("'" + std::string(option) + "' must be positive; omit the option for no limit");
  return size;
}

BudgetRequest read_budget(const Arguments& arguments) {
  BudgetRequest request;
  if (arguments.value("--budget") == "auto") {
    request.kind = BudgetRequest::Kind::automatic;
  } else {
    request = BudgetRequest::of(read_positive_size(arguments, "--budget"));
  }
  if (request.most.count() > limits::kMaxArenaBytes) {
    stop_usage("'--budget' must be at most " + std::to_string(limits::kMaxArenaBytes) +
               " bytes (kMaxArenaBytes), the largest arena that a plan can have; omit the option for no limit");
  }
  if (arguments.has("--curve")) {
    if (arguments.has("--budget")) stop_usage("'--curve' plans for many budgets; omit '--budget' or '--curve'");
    request.kind = BudgetRequest::Kind::curve;
  }
  const std::optional<std::int64_t> points = read_points(arguments);
  if (points && !request.needs_curve()) {
    stop_usage("'--points' is the number of budgets of '--curve' and of '--budget auto'");
  }
  request.points = points.value_or(request.points);
  return request;
}

std::optional<std::int64_t> read_count(const Arguments& arguments, std::string_view option, std::int64_t least,
                                       std::int64_t most) {
  const std::optional<std::string> text = arguments.value(option);
  if (!text) return std::nullopt;
  const std::optional<std::int64_t> number = parse_number(*text);
  const bool is_any = most == std::numeric_limits<std::int64_t>::max();
  if (is_any && is_too_large(*text)) {
    stop_usage("'" + std::string(option) + "': " + quoted(*text, 60) + std::string(kTooLarge));
  }
  if (!number || *number < least || *number > most) {
    stop_usage("'" + std::string(option) + "' must be a whole number from " + std::to_string(least) + " to " +
               (is_any ? "2^63 - 1" : std::to_string(most)) + ", not " + quoted(*text, 60));
  }
  return number;
}

std::optional<std::int64_t> read_points(const Arguments& arguments) {
  constexpr std::int64_t kMostPoints = 1000;
  return read_count(arguments, "--points", 2, kMostPoints);
}

std::string forbidden_text(const PlanOptions& options) {
  std::string text;
  for (const auto& [is_allowed, name] :
       {std::pair(options.in_place, " --no-in-place"), std::pair(options.views, " --no-views"),
        std::pair(options.parts, " --no-parts")}) {
    if (!is_allowed) text += name;
  }
  return text.empty() ? text : text.substr(1);
}

PlanOptions read_plan_options(const Arguments& arguments) {
  PlanOptions options;
  options.order = arguments.value("--order").value_or("auto");
  options.order_effort = read_count(arguments, "--order-effort", 0).value_or(options.order_effort);
  options.views = !arguments.has("--no-views");
  options.parts = !arguments.has("--no-parts");
  options.in_place = !arguments.has("--no-in-place");
  options.tool = tool_name();
  return options;
}

std::optional<int> read_threads(const Arguments& arguments) {
  const std::optional<std::int64_t> threads = read_count(arguments, "--threads", 1, limits::kMaxTeamThreads);
  return threads ? std::optional(static_cast<int>(*threads)) : std::nullopt;
}

Target read_target(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.value("--target");
  const std::optional<int> threads = read_threads(arguments);
  if (path == "cpu") {
    const bool has_streams = read_count(arguments, "--streams", 1, limits::kMaxStreams).value_or(1) > 1;
    return take(this_machine(threads.value_or(has_streams ? 2 : 1)));
  }
  if (threads) stop_usage("--threads needs kernels of this machine; add --target cpu");
  if (!path) return dense_target();
  const std::string text = take(read_text_file(*path, limits::kMaxTargetFileBytes));
  return take(parse_target(text, name_of_file(*path)));
}

void remark_unknown_operators(const Target& target, const Graph& graph, Console& console) {
  for (const std::string& type : target.unknown_operators) {
    if (has_operator(graph, type)) continue;
    console.note("the target has kernels of the operator " + lowtide::quoted(type) +
                 ", which Lowtide does not know and the model does not have");
  }
}

}  // namespace lowtide::cli_internal

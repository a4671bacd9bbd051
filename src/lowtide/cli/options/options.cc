// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/options.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/base/limits.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/earlier.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/kernels/cpu_target.h"
#include "lowtide/kernels/team.h"
#include "lowtide/plan/plans_json.h"
#include "lowtide/target/description.h"

namespace lowtide::cli_internal {
namespace {

// Whether the text is a whole number above 2^63 - 1.
bool is_too_large(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos && !parse_number(text);
}

// In the bindings of a plan file: the value of an input that has a default value in the model.
constexpr std::string_view kOverridden = "?";

constexpr std::string_view kTooLarge = " is too large; the largest number is 2^63 - 1";

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

std::vector<std::int64_t> read_extents(std::string_view option, const std::string& word, std::string_view text) {
  std::vector<std::int64_t> extents;
  while (true) {
    const std::size_t end = std::min(text.find('x'), text.size());
    const std::string_view extent = text.substr(0, end);
    if (is_too_large(extent))
      stop_usage("'" + std::string(option) + "': " + quoted(extent, 60) + std::string(kTooLarge));
    const std::optional<std::int64_t> number = extent == "?" ? -1 : parse_number(extent);
    if (!number || (*number < 0 && extent != "?")) {
      stop_usage("'" + std::string(option) + "' must have the form image=1x3x224x224 (? keeps an extent), not " +
                 quoted(word, 60));
    }
    extents.push_back(*number);
    if (end == text.size()) return extents;
    text.remove_prefix(end + 1);
  }
}

struct Binding {
  std::string name;
  std::string value;
};

// Splits at the last "=", because a name may contain one and a value never does.
std::optional<Binding> split_binding(const std::string& word) {
  const std::size_t equals = word.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return std::nullopt;
  return Binding{word.substr(0, equals), word.substr(equals + 1)};
}

// "1..8" or "1,2,4,8"
bool is_range(std::string_view value) {
  return value.find("..") != std::string_view::npos || value.find(',') != std::string_view::npos;
}

// The extents of such a text, in ascending order.
std::vector<std::int64_t> read_range_extents(const std::string& word, std::string_view text) {
  const auto number = [&](std::string_view digits) {
    const std::optional<std::int64_t> extent = parse_number(digits);
    if (!extent || *extent < 0) {
      stop_usage("'--dim' must have the form batch=8, batch=1..8 or batch=1,2,4,8, not " + quoted(word, 60));
    }
    return *extent;
  };
  std::set<std::int64_t> extents;
  const auto too_many = [&](std::int64_t count) {
    stop_usage("'--dim' has " + std::to_string(count) + " values in " + quoted(word, 60) + ", and a plan at most " +
               std::to_string(kMaxPlansPerFile) + "; give a shorter list, such as batch=1,2,4,8");
  };
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const std::int64_t first = number(text.substr(0, dots));
    const std::int64_t last = number(text.substr(dots + 2));
    if (last < first) stop_usage("'--dim' has a range that ends before it begins: " + quoted(word, 60));
    if (last - first >= kMaxPlansPerFile) too_many(last - first + 1);
    for (std::int64_t extent = first; extent <= last; ++extent) extents.insert(extent);
  } else {
    while (true) {
      const std::size_t comma = std::min(text.find(','), text.size());
      extents.insert(number(text.substr(0, comma)));
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
    }
  }
  if (static_cast<std::int64_t>(extents.size()) > kMaxPlansPerFile) {
    too_many(static_cast<std::int64_t>(extents.size()));
  }
  return {extents.begin(), extents.end()};
}

std::string written_extents(const std::vector<std::int64_t>& extents) {
  std::string out = "[";
  for (std::int64_t extent : extents) {
    if (out.size() > 1) out += ",";
    out += extent < 0 ? "?" : std::to_string(extent);
  }
  return out + "]";
}

std::optional<std::vector<std::int64_t>> parse_written_extents(std::string_view text) {
  std::vector<std::int64_t> extents;
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::optional<std::int64_t> number = text.substr(0, end) == "?" ? -1 : parse_number(text.substr(0, end));
    if (!number) return std::nullopt;
    extents.push_back(*number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return extents;
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

std::optional<DimRange> read_range(const Arguments& arguments) {
  std::optional<DimRange> range;
  for (const std::string& word : arguments.values("--dim")) {
    const std::optional<Binding> binding = split_binding(word);
    if (!binding || !is_range(binding->value)) continue;
    if (range) stop_usage("'--dim' gives two symbols a range, and a plan has one; give one of them a number");
    range = DimRange{binding->name, read_range_extents(word, binding->value)};
  }
  return range;
}

ImportOptions read_bindings(const Arguments& arguments) {
  if (const std::optional<DimRange> range = read_range(arguments)) {
    stop_usage("'--dim' gives " + quoted(range->symbol, 60) +
               " a range, which only 'plan' and 'run' can use; give one number");
  }
  return read_bindings_beside_range(arguments);
}

ImportOptions read_bindings_beside_range(const Arguments& arguments) {
  ImportOptions bindings;
  for (const std::string& word : arguments.values("--dim")) {
    const std::optional<Binding> binding = split_binding(word);
    if (binding && is_range(binding->value)) continue;
    const std::optional<std::int64_t> extent = binding ? parse_number(binding->value) : std::nullopt;
    if (binding && is_too_large(binding->value)) {
      stop_usage("'--dim' " + quoted(binding->name, 60) + ": " + quoted(binding->value, 60) + std::string(kTooLarge));
    }
    if (binding && binding->value.starts_with('-') && parse_number(binding->value.substr(1))) {
      stop_usage("'--dim' sets " + quoted(binding->name, 60) + " to " + binding->value +
                 "; give an extent of at least 0");
    }
    if (!extent) stop_usage("'--dim' must have the form batch=8, not " + quoted(word, 60));
    const auto [at, is_new] = bindings.dims.emplace(binding->name, *extent);
    if (!is_new && at->second != *extent) {
      stop_usage("'--dim' sets " + quoted(binding->name, 60) + " to both " + std::to_string(at->second) + " and " +
                 std::to_string(*extent) + "; give it once");
    }
  }
  for (const std::string& word : arguments.values("--shape")) {
    const std::optional<Binding> binding = split_binding(word);
    const std::vector<std::int64_t> extents = read_extents("--shape", word, binding ? binding->value : "");
    if (!bindings.shapes.emplace(binding->name, extents).second) {
      stop_usage("'--shape' names the input " + quoted(binding->name, 60) + " twice; give it once");
    }
  }
  const std::vector<std::string>& overrides = arguments.values("--override");
  bindings.overrides.insert(overrides.begin(), overrides.end());
  bindings.formats = earlier_model_formats();
  bindings.init_net = arguments.value("--init-net").value_or("");
  bindings.blob_types = arguments.value("--shapes").value_or("");
  bindings.unit_sizes = arguments.has("--unit-sizes");
  return bindings;
}

std::vector<ImportOptions> read_later_runs(const Arguments& arguments, const ImportOptions& first, bool has_symbols) {
  std::vector<ImportOptions> runs;
  for (const std::string& word : arguments.values("--then")) {
    ImportOptions& run = runs.emplace_back(first);
    std::set<std::string> names;
    for (std::size_t begin = 0; begin <= word.size();) {
      const std::size_t end = std::min(word.find(',', begin), word.size());
      const std::string part = word.substr(begin, end - begin);
      begin = end + 1;
      const std::optional<Binding> binding = split_binding(part);
      if (!binding || !names.insert(binding->name).second) {
        stop_usage("'--then' must have the form batch=8 or x=8x3x224x224,label=8x1, with each name once, not " +
                   quoted(word, 60));
      }
      const std::vector<std::int64_t> extents = read_extents("--then", part, binding->value);
      const bool is_symbol = has_symbols && extents.size() == 1 && extents.front() >= 0;
      if (is_symbol) {
        run.dims[binding->name] = extents.front();
      } else {
        run.shapes[binding->name] = extents;
      }
    }
  }
  return runs;
}

std::vector<std::string> written_bindings(const ImportOptions& bindings) {
  std::vector<std::string> written;
  for (const auto& [name, extent] : bindings.dims) written.push_back(name + "=" + std::to_string(extent));
  for (const auto& [name, extents] : bindings.shapes) written.push_back(name + "=" + written_extents(extents));
  for (const std::string& name : bindings.overrides) written.push_back(name + "=" + std::string(kOverridden));
  std::sort(written.begin(), written.end());
  return written;
}

std::string shown_bindings(const std::vector<std::string>& bindings) {
  if (bindings.empty()) return "the sizes of the file";
  std::vector<std::string> shown;
  for (const std::string& binding : bindings) shown.push_back(lowtide::quoted(binding));
  return listed(shown, "and");
}

std::vector<PlanFile> choose_plans(std::vector<PlanFile> plans, const ImportOptions& given, const std::string& path) {
  const std::vector<std::string> wanted = written_bindings(given);
  const auto contradicts = [&](const PlanFile& file) {
    return std::ranges::any_of(file.plan.provenance.dims, [&](const std::string& planned) {
      const std::string name = planned.substr(0, planned.rfind('=') + 1);
      return std::ranges::any_of(wanted,
                                 [&](const std::string& one) { return one.starts_with(name) && one != planned; });
    });
  };
  std::vector<std::string> planned;
  for (const PlanFile& file : plans) planned.push_back(shown_bindings(file.plan.provenance.dims));
  std::erase_if(plans, contradicts);
  if (!plans.empty()) return plans;
  throw Stop(ExitCode::bad_input, name_of_file(path) + ": the file has " +
                                      (planned.size() == 1 ? "a plan for " : "plans for ") + listed(planned, "and") +
                                      ", but the command line sets " + shown_bindings(wanted));
}

void add_written_bindings(const std::vector<std::string>& written, ImportOptions& bindings) {
  for (const std::string& line : written) {
    const std::optional<Binding> binding = split_binding(line);
    if (!binding) continue;
    if (binding->value == kOverridden) {
      bindings.overrides.insert(binding->name);
    } else if (const std::optional<std::int64_t> extent = parse_number(binding->value)) {
      bindings.dims.emplace(binding->name, *extent);
    } else if (std::optional<std::vector<std::int64_t>> extents = parse_written_extents(binding->value)) {
      bindings.shapes.emplace(binding->name, *extents);
    }
  }
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
  const std::optional<std::int64_t> threads = read_count(arguments, "--threads", 1, kMostTeamThreads);
  return threads ? std::optional(static_cast<int>(*threads)) : std::nullopt;
}

Target read_target(const Arguments& arguments) {
  const std::optional<std::string> path = arguments.value("--target");
  const std::optional<int> threads = read_threads(arguments);
  if (path == "cpu") {
    const bool has_streams = read_count(arguments, "--streams", 1, limits::kMaxStreams).value_or(1) > 1;
    return take(cpu_target({.threads = threads.value_or(has_streams ? 2 : 1)}));
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

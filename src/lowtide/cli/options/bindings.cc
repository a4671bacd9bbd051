// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/adapt/size_choice.h"
#include "lowtide/base/listed.h"
#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/options/binding_text.h"
#include "lowtide/cli/options/model_formats.h"
#include "lowtide/cli/options/options.h"
#include "lowtide/cli/options/size_choices.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/cli/output/read_file.h"
#include "lowtide/plan/plans_json.h"

// The options that determine the sizes of a model.
namespace lowtide::cli_internal {
namespace {

// In the bindings of a plan file: the value of an input that has a default value in the model.
constexpr std::string_view kOverridden = "?";

// The bound of a line of a plan file such as "frames<=500", which is split before the "=".
std::optional<std::int64_t> bound_written(const Binding& binding) {
  return binding.name.size() > 1 && binding.name.ends_with('<') ? parse_number(binding.value) : std::nullopt;
}

// --at-most NAME=N
void read_bounds(const Arguments& arguments, ImportOptions& bindings) {
  for (const std::string& word : arguments.values("--at-most")) {
    const std::optional<Binding> binding = split_binding(word);
    const std::optional<std::int64_t> most = binding ? parse_number(binding->value) : std::nullopt;
    if (binding && is_too_large(binding->value)) {
      stop_usage("'--at-most' " + quoted(binding->name, 60) + ": " + quoted(binding->value, 60) +
                 std::string(kTooLarge));
    }
    if (!most || *most < 0) stop_usage("'--at-most' must have the form frames=500, not " + quoted(word, 60));
    const auto [at, is_new] = bindings.at_most.emplace(binding->name, *most);
    if (!is_new && at->second != *most) {
      stop_usage("'--at-most' bounds " + quoted(binding->name, 60) + " by both " + std::to_string(at->second) +
                 " and " + std::to_string(*most) + "; give it once");
    }
  }
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

}  // namespace

std::optional<Binding> split_binding(const std::string& word) {
  const std::size_t equals = word.rfind('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == word.size()) return std::nullopt;
  return Binding{word.substr(0, equals), word.substr(equals + 1)};
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

bool is_to_run(const Arguments& arguments) {
  return arguments.value("--target") == "cpu" && !arguments.has("--unit-sizes");
}

ImportOptions read_bindings(const Arguments& arguments) {
  refuse_size_choices(arguments);
  return read_common_bindings(arguments);
}

ImportOptions read_common_bindings(const Arguments& arguments) {
  ImportOptions bindings;
  for (const std::string& word : arguments.values("--dim")) {
    const std::optional<Binding> binding = split_binding(word);
    if (binding && has_several_extents(binding->value)) continue;
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
  std::vector<std::pair<std::string, std::string>> words;  // with their options
  for (const std::string& word : arguments.values("--shape")) words.emplace_back("--shape", word);
  if (has_shapes_of_inputs(arguments)) words.emplace_back("--shapes", *arguments.value("--shapes"));
  for (const auto& [option, word] : words) {
    const std::optional<Binding> binding = split_binding(word);
    if (binding && has_several_shapes(binding->value)) continue;
    const std::vector<std::int64_t> extents = read_extents(option, word, binding ? binding->value : "");
    if (!bindings.shapes.emplace(binding->name, extents).second) {
      stop_usage("'" + option + "' names the input " + quoted(binding->name, 60) + " twice; give it once");
    }
  }
  read_bounds(arguments, bindings);
  const std::vector<std::string>& overrides = arguments.values("--override");
  bindings.overrides.insert(overrides.begin(), overrides.end());
  bindings.formats = model_formats();
  bindings.init_net = arguments.value("--init-net").value_or("");
  if (!has_shapes_of_inputs(arguments)) bindings.blob_types = arguments.value("--shapes").value_or("");
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
  for (const auto& [name, extents] : bindings.shapes) written.push_back(written_shape(name, extents));
  for (const auto& [name, most] : bindings.at_most) written.push_back(name + "<=" + std::to_string(most));
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

void add_planned_sizes(const std::vector<std::string>& written, ImportOptions& bindings) {
  ImportOptions planned;
  add_written_bindings(written, planned);
  bindings.planned_dims = std::move(planned.dims);
  bindings.planned_shapes = std::move(planned.shapes);
  bindings.overrides.merge(planned.overrides);
  // A number of the command line replaces an upper bound.
  for (const auto& [name, most] : planned.at_most) {
    if (!bindings.dims.contains(name)) bindings.at_most.emplace(name, most);
  }
}

void add_written_bindings(const std::vector<std::string>& written, ImportOptions& bindings) {
  for (const std::string& line : written) {
    const std::optional<Binding> binding = split_binding(line);
    if (!binding) continue;
    if (binding->value == kOverridden) {
      bindings.overrides.insert(binding->name);
    } else if (const std::optional<std::int64_t> most = bound_written(*binding)) {
      bindings.at_most.emplace(binding->name.substr(0, binding->name.size() - 1), *most);
    } else if (const std::optional<std::int64_t> extent = parse_number(binding->value)) {
      bindings.dims.emplace(binding->name, *extent);
    } else if (std::optional<std::vector<std::int64_t>> extents = parse_written_extents(binding->value)) {
      bindings.shapes.emplace(binding->name, *extents);
    }
  }
}

}  // namespace lowtide::cli_internal

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/cli/options/size_choices.h"

#include <algorithm>
#include <utility>

#include "lowtide/base/parse_number.h"
#include "lowtide/base/quote.h"
#include "lowtide/cli/options/binding_text.h"
#include "lowtide/cli/outcome.h"
#include "lowtide/plan/plans_json.h"
#include "lowtide/report/summary.h"

namespace lowtide::cli_internal {
namespace {

[[noreturn]] void refuse_many(std::string_view option, std::int64_t count, const std::string& word) {
  stop_usage("'" + std::string(option) + "' has " + std::to_string(count) + " values in " + quoted(word, 60) +
             ", and a plan at most " + std::to_string(kMaxPlansPerFile) + "; give a shorter list, such as " +
             (option == "--dim" ? "batch=1,2,4,8" : "x=1x3x320x320,1x3x640x640"));
}

// The extents of "1..8" or "1,2,4,8", in the order of the text.
std::vector<std::int64_t> read_range_extents(const std::string& word, std::string_view text) {
  const auto number = [&](std::string_view digits) {
    const std::optional<std::int64_t> extent = parse_number(digits);
    if (!extent || *extent < 0) {
      stop_usage("'--dim' must have the form batch=8, batch=1..8 or batch=1,2,4,8, not " + quoted(word, 60));
    }
    return *extent;
  };
  std::vector<std::int64_t> extents;
  if (const std::size_t dots = text.find(".."); dots != std::string_view::npos) {
    const std::int64_t first = number(text.substr(0, dots));
    const std::int64_t last = number(text.substr(dots + 2));
    if (last < first) stop_usage("'--dim' has a range that ends before it begins: " + quoted(word, 60));
    if (last - first >= kMaxPlansPerFile) refuse_many("--dim", last - first + 1, word);
    for (std::int64_t extent = first; extent <= last; ++extent) extents.push_back(extent);
  } else {
    while (true) {
      const std::size_t comma = std::min(text.find(','), text.size());
      extents.push_back(number(text.substr(0, comma)));
      if (comma == text.size()) break;
      text.remove_prefix(comma + 1);
    }
  }
  return extents;
}

// The shapes of "1x3x320x320,1x3x640x640".
std::vector<std::vector<std::int64_t>> read_shape_list(std::string_view option, const std::string& word,
                                                       std::string_view text) {
  std::vector<std::vector<std::int64_t>> shapes;
  while (true) {
    const std::size_t comma = std::min(text.find(','), text.size());
    shapes.push_back(read_extents(option, word, text.substr(0, comma)));
    if (comma == text.size()) return shapes;
    text.remove_prefix(comma + 1);
  }
}

// The choices that all lists make together.
class ChoiceList {
 public:
  // Adds a list with this many values, and calls set(choice, at) for each of them.
  template <typename Set>
  void add(std::string_view option, const std::string& word, std::size_t count, Set set) {
    if (static_cast<std::int64_t>(count) > kMaxPlansPerFile) {
      refuse_many(option, static_cast<std::int64_t>(count), word);
    }
    if (choices_.empty()) {
      choices_.resize(count);
      first_ = word;
    }
    if (choices_.size() != count) {
      stop_usage(quoted(first_, 60) + " has " + std::to_string(choices_.size()) + " values and " + quoted(word, 60) +
                 " has " + std::to_string(count) + "; lists go together, value by value, so give them equal lengths");
    }
    for (std::size_t at = 0; at < count; ++at) {
      if (!set(choices_[at], at)) {
        stop_usage("'" + std::string(option) + "' gives the same name twice, in " + quoted(word, 60) +
                   "; give it once");
      }
    }
    ++lists_;
  }

  [[nodiscard]] std::size_t lists() const { return lists_; }
  [[nodiscard]] std::vector<SizeChoice> take() && { return std::move(choices_); }

 private:
  std::vector<SizeChoice> choices_;
  std::string first_;
  std::size_t lists_ = 0;
};

void add_shapes(std::string_view option, const std::string& word, const Binding& binding, ChoiceList& list) {
  const std::vector<std::vector<std::int64_t>> shapes = read_shape_list(option, word, binding.value);
  list.add(option, word, shapes.size(),
           [&](SizeChoice& choice, std::size_t at) { return choice.shapes.emplace(binding.name, shapes[at]).second; });
}

// A list and one value of the same name contradict each other.
void refuse_other_value(const Arguments& arguments, const SizeChoice& first) {
  const auto refuse = [](std::string_view option, const std::string& name) {
    stop_usage("'" + std::string(option) + "' gives " + quoted(name, 60) +
               " several values, and one value in another place; give it once");
  };
  for (const std::string& word : arguments.values("--dim")) {
    const std::optional<Binding> binding = split_binding(word);
    if (binding && !has_several_extents(binding->value) && first.dims.contains(binding->name)) {
      refuse("--dim", binding->name);
    }
  }
  for (const std::string& word : arguments.values("--shape")) {
    const std::optional<Binding> binding = split_binding(word);
    if (binding && !has_several_shapes(binding->value) && first.shapes.contains(binding->name)) {
      refuse("--shape", binding->name);
    }
  }
}

}  // namespace

bool has_several_extents(std::string_view value) {
  return value.find("..") != std::string_view::npos || value.find(',') != std::string_view::npos;
}

bool has_several_shapes(std::string_view value) { return value.find(',') != std::string_view::npos; }

bool has_shapes_of_inputs(const Arguments& arguments) {
  const std::optional<std::string> value = arguments.value("--shapes");
  const std::optional<Binding> binding = value ? split_binding(*value) : std::nullopt;
  return binding && binding->value.find_first_not_of("0123456789x?,") == std::string::npos;
}

std::vector<SizeChoice> read_size_choices(const Arguments& arguments) {
  ChoiceList list;
  bool is_one_symbol = true;
  for (const std::string& word : arguments.values("--dim")) {
    const std::optional<Binding> binding = split_binding(word);
    if (!binding || !has_several_extents(binding->value)) continue;
    const std::vector<std::int64_t> extents = read_range_extents(word, binding->value);
    list.add("--dim", word, extents.size(), [&](SizeChoice& choice, std::size_t at) {
      return choice.dims.emplace(binding->name, extents[at]).second;
    });
  }
  for (const std::string& word : arguments.values("--shape")) {
    const std::optional<Binding> binding = split_binding(word);
    if (!binding || !has_several_shapes(binding->value)) continue;
    add_shapes("--shape", word, *binding, list);
    is_one_symbol = false;
  }
  const std::optional<Binding> shapes =
      has_shapes_of_inputs(arguments) ? split_binding(*arguments.value("--shapes")) : std::nullopt;
  if (shapes && has_several_shapes(shapes->value)) {
    add_shapes("--shapes", *arguments.value("--shapes"), *shapes, list);
    is_one_symbol = false;
  }
  is_one_symbol = is_one_symbol && list.lists() == 1;
  std::vector<SizeChoice> choices = std::move(list).take();
  if (!choices.empty()) refuse_other_value(arguments, choices.front());
  if (is_one_symbol) {
    std::sort(choices.begin(), choices.end(), [](const auto& a, const auto& b) { return a.dims < b.dims; });
    choices.erase(std::unique(choices.begin(), choices.end()), choices.end());
  }
  return choices;
}

void refuse_size_choices(const Arguments& arguments) {
  const std::vector<SizeChoice> choices = read_size_choices(arguments);
  if (choices.empty()) return;
  const SizeChoice& first = choices.front();
  const bool is_dim = !first.dims.empty();
  const std::string name = is_dim ? first.dims.begin()->first : first.shapes.begin()->first;
  stop_usage(
      (is_dim ? "'--dim' gives " : "'--shape' gives ") + quoted(name, 60) +
      " several values, which only 'plan', 'run' and 'prepare' can use; give one, or an upper bound with --at-most " +
      quoted(is_dim ? name : name + "[0]", 60) + "=N");
}

std::string sizes_text(const SizeChoice& choice) {
  std::string text;
  const auto begin = [&](const std::string& name) { text += (text.empty() ? "" : ", ") + shown_name(name) + "="; };
  for (const auto& [name, extent] : choice.dims) {
    begin(name);
    text += std::to_string(extent);
  }
  for (const auto& [name, extents] : choice.shapes) {
    begin(name);
    for (std::size_t at = 0; at < extents.size(); ++at) {
      text += (at == 0 ? "" : "x") + (extents[at] < 0 ? std::string("?") : std::to_string(extents[at]));
    }
  }
  return text;
}

}  // namespace lowtide::cli_internal

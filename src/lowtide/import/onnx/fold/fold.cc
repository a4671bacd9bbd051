// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/import/onnx/fold/fold.h"

#include <algorithm>

#include "lowtide/import/onnx/fold/fold_node.h"

namespace lowtide::import_internal {
namespace {

// The rules of all families, sorted by type.
const std::vector<NamedRule>& rules() {
  static const std::vector<NamedRule> table = [] {
    std::vector<NamedRule> all;
    for (const std::span<const NamedRule> family :
         {movement_rules(), indexing_rules(), arithmetic_rules(), cast_rules(), compare_rules(), reduce_rules(),
          generate_rules(), sorting_rules()}) {
      all.insert(all.end(), family.begin(), family.end());
    }
    std::sort(all.begin(), all.end(), [](const NamedRule& a, const NamedRule& b) { return a.type < b.type; });
    return all;
  }();
  return table;
}

FoldRule find_rule(std::string_view domain, std::string_view type) {
  if (!domain.empty() && domain != "ai.onnx") return nullptr;
  const std::vector<NamedRule>& table = rules();
  const auto found = std::lower_bound(table.begin(), table.end(), type,
                                      [](const NamedRule& rule, std::string_view name) { return rule.type < name; });
  return found != table.end() && found->type == type ? found->rule : nullptr;
}

// Whether the content is empty, or an element is known or has a symbol. Otherwise it says no more than nullptr.
bool says_something(const KnownContent& content) {
  return content.elements.empty() ||
         std::any_of(content.elements.begin(), content.elements.end(), [](const KnownElement& element) {
           return element.knowledge != Knowledge::unknown || !element.symbol.empty();
         });
}

}  // namespace

bool may_fold(std::string_view domain, std::string_view type) { return find_rule(domain, type) != nullptr; }

Result<std::vector<std::shared_ptr<const KnownContent>>> fold(const FoldRequest& request) {
  Contents contents;
  if (const FoldRule rule = find_rule(request.domain, request.type)) {
    Result<Contents> outcome = rule(FoldNode(request));
    if (!outcome.ok()) return outcome.error();
    contents = std::move(outcome).value();
  }
  contents.resize(request.output_count);
  for (Content& content : contents) {
    if (content != nullptr && !says_something(*content)) content = nullptr;
  }
  return contents;
}

}  // namespace lowtide::import_internal

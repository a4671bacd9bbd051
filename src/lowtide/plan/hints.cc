// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/plan/hints.h"

#include <optional>
#include <utility>

#include "lowtide/base/json_reader.h"
#include "lowtide/base/quote.h"

namespace lowtide {
namespace {

constexpr std::string_view kKeys[] = {"hints"};
constexpr std::string_view kHintKeys[] = {"name", "hint"};

bool read_kind(JsonReader& json, HintKind& kind) {
  std::string text;
  if (!json.read_name(text)) return false;
  const std::optional<HintKind> known = from_string<HintKind>(text);
  if (!known) {
    return json.fail(ErrorCode::malformed, quoted(text) + " is not a hint; use recompute, keep or swap");
  }
  kind = *known;
  return true;
}

}  // namespace

Result<std::vector<HintRequest>> parse_hints(std::string_view text, std::string source_name) {
  JsonReader json(text, std::move(source_name));
  std::vector<HintRequest> hints;
  const auto read_hint = [&] {
    HintRequest& hint = hints.emplace_back();
    return json.read_object(
        kHintKeys, [&](std::size_t key) { return key == 0 ? json.read_name(hint.name) : read_kind(json, hint.kind); });
  };
  const bool ok = json.read_object(kKeys, [&](std::size_t) { return json.read_array(read_hint); }) && json.read_end();
  if (!ok) return *json.error();
  return hints;
}

}  // namespace lowtide

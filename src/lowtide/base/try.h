// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <utility>

#include "lowtide/base/result.h"

// Defines a variable that has the value of an expression, or returns its error from the enclosing function:
//
//   LOWTIDE_TRY(const Graph graph, parse_graph(text));      const Result<Graph> parsed = parse_graph(text);
//   use(graph);                                             if (!parsed) return parsed.error();
//                                                           use(*parsed);
//
// Requires: the expression is a Result with a value, the declaration has no comma outside of parentheses, and the macro
// is a statement of a block. The value is moved.
#define LOWTIDE_TRY(declaration, ...) LOWTIDE_TRY_WITH(LOWTIDE_TRY_NAME(__COUNTER__), declaration, __VA_ARGS__)
#define LOWTIDE_TRY_NAME(number) LOWTIDE_TRY_JOIN(number)
#define LOWTIDE_TRY_JOIN(number) lowtide_tried_##number
#define LOWTIDE_TRY_WITH(tried, declaration, ...) \
  auto tried = __VA_ARGS__;                       \
  if (!tried.ok()) return tried.error();          \
  declaration = *std::move(tried)

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "lowtide/graph/text.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;

struct Case {
  std::string text;
  std::string described;  // a part of "place: message"
  ErrorCode code = ErrorCode::malformed;
};

void expect_all_refused(const std::vector<Case>& cases) {
  for (const Case& bad : cases) {
    const Result<Graph> graph = parse_graph(bad.text, "t");
    ASSERT_FALSE(graph.ok()) << bad.text;
    EXPECT_THAT(graph.error().describe(), HasSubstr(bad.described)) << bad.text;
    EXPECT_EQ(graph.error().code, bad.code) << bad.text;
  }
}

std::string in_graph(const std::string& lines) { return "graph \"g\" {\n" + lines + "\n}"; }

TEST(GraphTextErrors, StateWhatWasExpectedAndFound) {
  expect_all_refused({
      {"", "t:1:1: expected 'graph', found the end of the text"},
      {"graph g {}", "t:1:7: expected the name of the graph in quotes, found 'g'"},
      {"graph \"g\" {", "t:1:12: expected a declaration, a node, 'output', 'update' or '}', found the end of the text"},
      {"graph \"g\" {} x", "t:1:14: expected the end of the text after the graph, found 'x'"},
      {"graph \"g", "t:1:7: expected the name of the graph in quotes, found a text whose closing quote"},
      {"graph \"g\\q\" {}", "t:1:7: the text 'g\\\\q' has an escape other than"},
      {in_graph("?"), "t:2:1: expected a declaration, a node, 'output', 'update' or '}', found the character '?'"},
      {in_graph("input x : f32[] y = Relu(x) : f32[]"), "t:2:17: expected the end of the line, or ';', found 'y'"},
      {in_graph("input output : f32[]"), "found the reserved word 'output'; write \"output\" if it is a name"},
      {in_graph("input x f32[]"), "t:2:9: expected ':' and the type of the tensor, found 'f32'"},
      {in_graph("input x : float[]"), "t:2:11: expected a type such as f32[1,3,8,8], found 'float'"},
      {in_graph("input x : f32[1.5]"), "expected an extent (an integer of 64 bits), found '1.5'"},
      {in_graph("input x : f32[1 2]"), "t:2:17: expected ']' or ',' after an extent, found '2'"},
      {in_graph("captured tensor x : f32[]"), "expected 'input' or 'constant' after 'captured'"},
      {in_graph("y"), "t:3:1: expected '(' before the inputs on the previous line, found a new line"},
      {in_graph("update = Relu() : f32[]"), "t:2:8: expected the name of a state, found '='"},
      {in_graph("update h y"), "t:2:10: expected '=' after the name of a state, found 'y'"},
      {in_graph("_ Relu()"), "t:2:3: expected '=' after an output, found 'Relu'"},
      {in_graph("y = Relu"), "expected '(' before the inputs"},
      {in_graph("y = Relu()"),
       "t:3:1: expected ':' and the type of the output 'y' on the previous line, found a new line"},
      {in_graph("y, z = Relu() : f32[]"), "t:3:1: expected ',' and the type of the output 'z'"},
      {in_graph("Op() {a}"), "t:2:8: expected '=' after the name of an attribute, found '}'"},
      {in_graph("Op() {a = }"), "expected a value: a number"},
      {in_graph("Op() {a = []}"), "an empty list is written int[], float[] or text[], found ']'"},
      {in_graph("Op() {a = [1, 2.0]}"), "t:2:15: the elements of a list must all be integers"},
      {in_graph("Op() {a = [opaque \"t\"]}"), "the elements of a list must all be"},
      {in_graph("Op() {a = [[1]]}"), "lists do not nest"},
      {in_graph("Op() {a = 1e400}"), "t:2:11: expected a number that fits 64 bits, found '1e400'"},
      {in_graph("Op() {a = 1e39f}"), "found '1e39f'"},
      {in_graph("Op() {a = nan(0x1)}"), "expected the bits of a NaN, such as"},
      {in_graph("Op() {a = 9223372036854775808}"), "a number that fits 64 bits"},
      {in_graph("Op() {a = 1 b = 2}"), "t:2:13: expected '}' or ',' after an attribute, found 'b'"},
      {"graph \"g\" captures (x) {}", "expected '{', because only a body has captures, found 'captures'"},
  });
}

TEST(GraphTextErrors, NameTheTensorAndTheLine) {
  expect_all_refused({
      {in_graph("input x : f32[]\ninput x : f32[]"), "t:3:7: the tensor 'x' is declared twice, first in line 2",
       ErrorCode::invalid},
      {in_graph("y = Relu(x) : f32[]"), "t:2:10: no tensor of graph 'g' is named 'x'; declare it", ErrorCode::invalid},
      {in_graph("output y"), "t:2:8: no tensor of graph 'g' is named 'y'", ErrorCode::invalid},
      {in_graph("state h : f32[]\nupdate h = y"), "t:3:12: no tensor of graph 'g' is named 'y'", ErrorCode::invalid},
      {in_graph("input x : f32[]\nupdate x = x"), "'x': is updated, but it is an input; only a state can be updated",
       ErrorCode::invalid},
      {in_graph("y = A() : f32[]\ny = B()"), "t:3:1: the tensor 'y' has two producers, the first in line 2",
       ErrorCode::invalid},
      {in_graph("y, y = A() : f32[]"), "t:2:4: the tensor 'y' has two producers, the first in line 2",
       ErrorCode::invalid},
      {in_graph("A() after (node 1)"), "t:2:12: node 1 does not exist: graph 'g' has 1 node", ErrorCode::invalid},
      {in_graph("A() after (node -1)"), "node -1 does not exist", ErrorCode::invalid},
      {in_graph("input x : f32[]\nA() after (x)"), "t:3:12: no node produces 'x'", ErrorCode::invalid},
      {in_graph("constant c : i64[2] = [1]"), "the tensor 'c' has 2 elements, but the list has 1 integer",
       ErrorCode::invalid},
      {in_graph("constant c : f32[2] data w"), "t:2:26: expected the number of a constant after 'data'"},
      {in_graph("constant c : f32[2] data -1"), "t:2:21: the number -1 of a constant is not between 0 and 40000000",
       ErrorCode::invalid},
      {in_graph("input x : f32[2] data 1"), "t:2:18: the tensor 'x' has data, but only a constant", ErrorCode::invalid},
      {in_graph("input x : f32[-1]"), "t:2:15: the extent -1 is negative", ErrorCode::invalid},
      {in_graph("input x : f32[4294967296,4294967296]"), "t:2:11: shape [4294967296,4294967296]",
       ErrorCode::over_limit},
      {in_graph("input x : string[1]"), "t:2:11: element type string", ErrorCode::unsupported},
      {in_graph("input \"\" : f32[]"), "a tensor has an empty name", ErrorCode::invalid},
      // Errors of the builder have the place of the graph.
      {in_graph("input x : f32[]\nx = A()"), "t:1:1: graph 'g': node 0 '': writes 'x', but no node may write an input",
       ErrorCode::invalid},
      {in_graph("tensor y : f32[]"), "graph 'g': tensor 'y': nothing produces this tensor", ErrorCode::invalid},
      {in_graph("a = A(b) : f32[]\nb = B(a) : f32[]"), "depends on its own result", ErrorCode::invalid},
  });
}

TEST(GraphTextErrors, EachCaptureIsListedOnce) {
  const auto body = [](const std::string& captures, const std::string& lines) {
    return in_graph("input x : f32[]\nIf() {b = graph \"b\" " + captures + " {" + lines + "}}");
  };
  EXPECT_TRUE(parse_graph(body("captures (x)", "captured input x : f32[]"), "t").ok());
  expect_all_refused({
      {body("", "captured input x : f32[]"),
       "t:3:38: the captured tensor 'x' of graph 'b' is not listed after 'captures'", ErrorCode::invalid},
      {body("captures (x)", ""), "'x' is not declared in graph 'b'", ErrorCode::invalid},
      {body("captures (x)", "input x : f32[]"), "'x' is not declared as 'captured' in graph 'b'", ErrorCode::invalid},
      {body("captures (x, x)", "captured input x : f32[]"), "t:3:34: 'x' is captured twice by graph 'b'",
       ErrorCode::invalid},
      {body("captures (x = y)", "captured input x : f32[]"), "t:3:35: no tensor of graph 'g' is named 'y'",
       ErrorCode::invalid},
      {body("captures ()", ""), "expected the name of a captured tensor, found ')'"},
  });
}

TEST(GraphTextErrors, StayShortAndSafeToPrint) {
  const Result<Graph> graph = parse_graph(in_graph("input " + std::string(5'000'000, 'x') + "\x1b f32[]"), "t");
  ASSERT_FALSE(graph.ok());
  EXPECT_LT(graph.error().describe().size(), 1000U);
  EXPECT_EQ(graph.error().describe().find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace lowtide

// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include <memory>
#include <utility>

#include "lowtide/base/article.h"
#include "lowtide/base/limits.h"
#include "lowtide/base/quote.h"
#include "lowtide/graph/text.h"
#include "lowtide/graph/text_parse.h"

namespace lowtide {
namespace graph_internal {

std::optional<Graph> GraphParser::parse() {
  const TextPosition begin = reader_.peek().at;
  if (!reader_.peek().is_name("graph")) {
    reader_.fail_expected("'graph'");
    return std::nullopt;
  }
  if (nesting_ > limits::kMaxBodyNesting) {
    reader_.fail(
        ErrorCode::over_limit, begin,
        "bodies are nested deeper than the limit of " + std::to_string(limits::kMaxBodyNesting) + " (kMaxBodyNesting)");
    return std::nullopt;
  }
  reader_.take();
  if (!reader_.read_text("the name of the graph in quotes", name_) || !read_captures() ||
      !reader_.expect("{", "before the lines of the graph")) {
    return std::nullopt;
  }
  builder_.emplace(name_);
  bool needs_line = false;
  while (!reader_.accept("}")) {
    if (reader_.accept(";")) {
      needs_line = false;
      continue;
    }
    if (needs_line && !reader_.peek().starts_line) {
      reader_.fail_expected("the end of the line, or ';'");
      return std::nullopt;
    }
    if (!read_statement()) return std::nullopt;
    needs_line = true;
  }
  if (!add_nodes() || !add_updates()) return std::nullopt;
  Result<Graph> graph = std::move(*builder_).build();
  if (!graph) {
    reader_.fail(graph.error().code, begin, graph.error().describe());
    return std::nullopt;
  }
  return std::move(graph).value();
}

// captures (x, inner = outer)
bool GraphParser::read_captures() {
  if (!reader_.peek().is_name("captures")) return true;
  if (nesting_ == 0) return reader_.fail_expected("'{', because only a body has captures");
  reader_.take();
  if (!reader_.expect("(", "before the captured tensors")) return false;
  do {
    NameUse inner;
    inner.at = reader_.peek().at;
    if (!reader_.read_name("the name of a captured tensor", inner.name)) return false;
    NameUse outer = inner;
    if (reader_.accept("=")) {
      outer.at = reader_.peek().at;
      if (!reader_.read_name("the name of a tensor of the outer graph", outer.name)) return false;
    }
    captures_.emplace_back(std::move(inner), std::move(outer));
  } while (reader_.accept(","));
  return reader_.expect(")", "or ',' after a captured tensor");
}

bool GraphParser::read_statement() {
  const Token& token = reader_.peek();
  if (token.is_name("output")) return read_outputs();
  if (token.is_name("update")) return read_update();
  for (std::string_view word : {"input", "constant", "state", "tensor", "captured"}) {
    if (token.is_name(word)) return read_declaration();
  }
  if (token.kind == TokenKind::name || token.kind == TokenKind::text) return read_node();
  return reader_.fail_expected("a declaration, a node, 'output', 'update' or '}'");
}

// [captured] input|constant|state|tensor x : f32[4] [data 3] [= [1, 2, 3, 4]]
bool GraphParser::read_declaration() {
  const bool is_captured = reader_.peek().is_name("captured");
  if (is_captured) reader_.take();
  const std::optional<Role> role =
      reader_.peek().is_name("tensor") ? Role::temporary : from_string<Role>(reader_.peek().text);
  if (!role || *role == Role::output || (is_captured && *role == Role::temporary)) {
    return reader_.fail_expected("'input' or 'constant' after 'captured'");
  }
  reader_.take();
  NameUse name;
  name.at = reader_.peek().at;
  return reader_.read_name("the name of a tensor", name.name) && reader_.expect(":", "and the type of the tensor") &&
         declare(name, *role, is_captured);
}

// Reads `data 3` if it is next.
bool GraphParser::read_data(const GraphBuilder::TensorSpec& spec, Role role, std::optional<ConstantId>& out) {
  if (reader_.peek().starts_line || !reader_.peek().is_name("data")) return true;
  const TextPosition at = reader_.take().at;
  if (role != Role::constant || spec.is_captured) {
    return reader_.fail(ErrorCode::invalid, at,
                        "the tensor " + quoted(spec.name) +
                            " has data, but only a constant that is not captured has bytes in the table of constants");
  }
  std::int64_t number = 0;
  if (!reader_.read_integer("the number of a constant after 'data'", number)) return false;
  if (number < 0 || number > limits::kMaxTensors) {
    return reader_.fail(ErrorCode::invalid, at,
                        "the number " + std::to_string(number) + " of a constant is not between 0 and " +
                            std::to_string(limits::kMaxTensors) + " (kMaxTensors)");
  }
  out = ConstantId(static_cast<std::uint32_t>(number));
  return true;
}

// Reads a type and, if present, data and content. Declares the tensor.
bool GraphParser::declare(const NameUse& name, Role role, bool is_captured) {
  if (const auto earlier = declared_.find(name.name); earlier != declared_.end()) {
    return reader_.fail(ErrorCode::invalid, name.at,
                        "the tensor " + quoted(name.name) + " is declared twice, first in line " +
                            std::to_string(earlier->second.at.line));
  }
  TensorType type;
  if (!reader_.read_type(type)) return false;
  GraphBuilder::TensorSpec spec{
      .name = name.name, .dtype = type.dtype, .shape = type.shape, .is_captured = is_captured};
  if (!read_data(spec, role, spec.constant)) return false;
  const TensorId id = builder_->add_tensor(std::move(spec), role);
  declared_.emplace(name.name, Declaration{id, name.at, is_captured, std::nullopt});
  if (reader_.peek().starts_line || !reader_.peek().is_symbol("=")) return true;
  const TextPosition at = reader_.take().at;
  std::vector<std::int64_t> content;
  if (!reader_.read_integers(content)) return false;
  const std::int64_t elements = element_count(type.shape).value();  // read_type refuses shapes without a count
  if (static_cast<std::int64_t>(content.size()) != elements) {
    return reader_.fail(ErrorCode::invalid, at,
                        "the tensor " + quoted(name.name) + " has " + with_count(elements, "element") +
                            ", but the list has " + with_count(static_cast<std::int64_t>(content.size()), "integer"));
  }
  builder_->set_known_integers(id, std::move(content));
  return true;
}

// output y, z
bool GraphParser::read_outputs() {
  reader_.take();
  do {
    NameUse& use = outputs_.emplace_back();
    use.at = reader_.peek().at;
    if (!reader_.read_name("the name of an output", use.name)) return false;
  } while (reader_.accept_on_line(","));
  return true;
}

// update h = y
bool GraphParser::read_update() {
  reader_.take();
  auto& [state, next] = updates_.emplace_back();
  state.at = reader_.peek().at;
  if (!reader_.read_name("the name of a state", state.name) || !reader_.expect("=", "after the name of a state")) {
    return false;
  }
  next.at = reader_.peek().at;
  return reader_.read_name("the name of a tensor", next.name);
}

bool GraphParser::read_tensor(std::vector<std::optional<NameUse>>& out) {
  if (reader_.peek().is_name("_")) {
    reader_.take();
    out.emplace_back(std::nullopt);
    return true;
  }
  NameUse use;
  use.at = reader_.peek().at;
  if (!reader_.read_name("the name of a tensor, or '_'", use.name)) return false;
  out.emplace_back(std::move(use));
  return true;
}

bool GraphParser::read_node() {
  NodeLine line;
  line.at = reader_.peek().at;
  // A line without outputs begins with the operator. The next token shows whether the first name is an output.
  if (!read_tensor(line.outputs)) return false;
  const bool has_outputs = reader_.peek().is_symbol(",") || reader_.peek().is_symbol("=");
  while (has_outputs && reader_.accept(",")) {
    if (!read_tensor(line.outputs)) return false;
  }
  if (has_outputs) {
    if (!reader_.expect("=", "or ',' after an output")) return false;
    if (!reader_.read_name("an operator", line.spec.type)) return false;
  } else {
    if (!line.outputs[0]) return reader_.fail_expected("'=' after an output");
    line.spec.type = std::move(line.outputs[0]->name);
    line.outputs.clear();
  }
  if (!read_operator(line) || !read_inputs(line)) return false;
  if (!reader_.peek().starts_line && reader_.peek().kind == TokenKind::text &&
      !reader_.read_text("the name of the node", line.spec.name)) {
    return false;
  }
  if (!read_control_inputs(line) || !read_attributes(line) || !read_types(line) || !claim_outputs(line)) return false;
  nodes_.push_back(std::move(line));
  return true;
}

// Reads `::Type` if it follows a domain.
bool GraphParser::read_operator(NodeLine& line) {
  if (!reader_.accept_on_line("::")) return true;
  line.spec.domain = std::move(line.spec.type);
  return reader_.read_name("the type of the operator after its domain", line.spec.type);
}

bool GraphParser::read_inputs(NodeLine& line) {
  if (!reader_.accept_on_line("(")) return reader_.fail_expected_on_line("'(' before the inputs");
  if (reader_.accept(")")) return true;
  do {
    if (!read_tensor(line.inputs)) return false;
  } while (reader_.accept(","));
  return reader_.expect(")", "or ',' after an input");
}

// after (y, node 3)
bool GraphParser::read_control_inputs(NodeLine& line) {
  if (reader_.peek().starts_line || !reader_.peek().is_name("after")) return true;
  reader_.take();
  if (!reader_.expect("(", "after 'after'")) return false;
  do {
    ControlInput& input = line.control_inputs.emplace_back();
    input.tensor.at = reader_.peek().at;
    if (reader_.peek().is_name("node")) {
      reader_.take();
      if (!reader_.read_integer("the number of a node", input.node.emplace())) return false;
    } else if (!reader_.read_name("a tensor that a node produces, or 'node' and its number", input.tensor.name)) {
      return false;
    }
  } while (reader_.accept(","));
  return reader_.expect(")", "or ',' after a control input");
}

// {alpha = 0.5, body = graph "b" {...}}
bool GraphParser::read_attributes(NodeLine& line) {
  if (!reader_.accept_on_line("{")) return true;
  do {
    std::string name;
    if (!reader_.read_name("the name of an attribute", name)) return false;
    if (!reader_.expect("=", "after the name of an attribute")) return false;
    if (reader_.peek().is_name("graph")) {
      if (!read_body(std::move(name), line)) return false;
    } else {
      Attribute& attribute = line.spec.attributes.emplace_back();
      attribute.name = std::move(name);
      if (!reader_.read_value(attribute.value)) return false;
    }
  } while (reader_.accept(","));
  return reader_.expect("}", "or ',' after an attribute");
}

bool GraphParser::read_body(std::string name, NodeLine& line) {
  GraphParser parser(reader_, nesting_ + 1);  // refuses what is deeper than limits::kMaxBodyNesting
  std::optional<Graph> graph = parser.parse();
  if (!graph || !bind_captures(*graph, parser, line)) return false;
  line.spec.bodies.push_back({std::move(name), std::make_shared<const Graph>(std::move(*graph)), {}});
  return true;
}

// Reads one type per output that is not declared yet.
bool GraphParser::read_types(NodeLine& line) {
  bool is_first = true;
  for (const std::optional<NameUse>& output : line.outputs) {
    if (!output || declared_.contains(output->name)) continue;
    const bool follows = reader_.accept_on_line(is_first ? ":" : ",");
    if (!follows) {
      return reader_.fail_expected_on_line(std::string(is_first ? "':'" : "','") + " and the type of the output " +
                                           quoted(output->name));
    }
    is_first = false;
    if (!declare(*output, Role::temporary, false)) return false;
  }
  return true;
}

bool GraphParser::claim_outputs(const NodeLine& line) {
  for (const std::optional<NameUse>& output : line.outputs) {
    if (!output) continue;
    Declaration& declaration = declared_.at(output->name);
    if (declaration.producer) {
      return reader_.fail(
          ErrorCode::invalid, output->at,
          "the tensor " + quoted(output->name) + " has two producers, the first in line " +
              std::to_string(*declaration.producer == nodes_.size() ? line.at.line
                                                                    : nodes_[*declaration.producer].at.line));
    }
    declaration.producer = nodes_.size();
  }
  return true;
}

}  // namespace graph_internal

Result<Graph> parse_graph(std::string_view text, std::string source_name) {
  if (static_cast<std::int64_t>(text.size()) > limits::kMaxFileBytes) {
    return Error{ErrorCode::over_limit,
                 "a text of " + std::to_string(text.size()) + " bytes is above the limit of " +
                     std::to_string(limits::kMaxFileBytes) + " (kMaxFileBytes)",
                 std::move(source_name)};
  }
  graph_internal::TextReader reader(text, std::move(source_name));
  std::optional<Graph> graph = graph_internal::GraphParser(reader, 0).parse();
  if (graph && reader.peek().kind != graph_internal::TokenKind::end)
    reader.fail_expected("the end of the text after the graph");
  if (reader.error()) return *reader.error();
  LOWTIDE_CHECK(graph.has_value(), "a graph that was not read has an error");
  return std::move(*graph);
}

}  // namespace lowtide

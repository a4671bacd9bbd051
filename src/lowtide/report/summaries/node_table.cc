// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

#include "lowtide/report/node_table.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "lowtide/report/text/figures.h"
#include "lowtide/report/text/page_text.h"

namespace lowtide {
namespace {

using Align = TextTable::Align;
using report_internal::exact;
using report_internal::macs_text;
using report_internal::node_columns;
using report_internal::paragraph;

std::string operator_of(const NodeFigures& row) { return full_name(row.graph->op(row.node)); }

const std::string& name_of(const NodeFigures& row) { return row.graph->node(row.node).name; }

const Body& body_of(const GraphFigures& figures, const OuterNode& outer) {
  const NodeFigures& row = figures.nodes[outer.row];
  return row.graph->node(row.node).bodies[outer.position];
}

// The rows to show, in their order: those with the most multiply-accumulates, then those that move the most bytes.
std::vector<std::size_t> shown_rows(const GraphFigures& figures, std::size_t most) {
  std::vector<std::size_t> rows(figures.nodes.size());
  for (std::size_t row = 0; row < rows.size(); ++row) rows[row] = row;
  if (rows.size() <= most) return rows;
  const auto is_before = [&](std::size_t a, std::size_t b) {
    const NodeFigures& first = figures.nodes[a];
    const NodeFigures& second = figures.nodes[b];
    const auto macs = [](const NodeFigures& row) { return row.macs.value_or(0); };
    const auto bytes = [](const NodeFigures& row) { return row.read + row.written; };
    if (macs(first) != macs(second)) return macs(first) > macs(second);
    if (bytes(first) != bytes(second)) return bytes(first) > bytes(second);
    return a < b;
  };
  std::sort(rows.begin(), rows.end(), is_before);
  rows.resize(most);
  std::sort(rows.begin(), rows.end());
  return rows;
}

StyledText dim(const std::string& text) { return {text, Style::dim}; }

std::string indent(int depth) { return std::string(2 * static_cast<std::size_t>(depth), ' '); }

void add_row(TextTable& table, const NodeFigures& row, const FigureSum& all, bool wide) {
  const std::size_t columns = node_columns(wide);
  const std::string& name = name_of(row);
  const std::string share = row.macs.value_or(0) > 0 ? percent(*row.macs, all.sum) : "";
  table.add_row({StyledText(with_thousands(row.node.value())),
                 StyledText(indent(row.depth) + shown_name(operator_of(row), columns)),
                 StyledText(name.empty() ? "" : shown_name(name, columns)), StyledText(exact(row.read)),
                 StyledText(exact(row.written)), StyledText(row.scratch ? exact(*row.scratch) : "not known"),
                 StyledText(exact(row.constants)), StyledText(macs_text(row.macs)), StyledText(share)});
}

// Adds a row that names the body of the rows below. It is needed before the first node of a body, and again after the
// nodes of a nested body.
void add_body(TextTable& table, const GraphFigures& figures, const NodeFigures& row) {
  const std::string step = with_thousands(figures.nodes[row.outer->row].node.value());
  table.add_row(
      {StyledText(), dim(indent(row.depth) + shown_name(body_of(figures, *row.outer).name)), dim("of step " + step)});
}

void add_totals(TextTable& table, const FigureTotals& totals) {
  table.add_row({StyledText(), dim("total"), dim(counted(totals.nodes, "node")),
                 dim(report_internal::sum_text(totals.read)), dim(report_internal::sum_text(totals.written)),
                 dim(exact(totals.scratch)), dim(exact(totals.constants)), dim(macs_text(totals))});
}

bool is_same(const std::optional<OuterNode>& a, const std::optional<OuterNode>& b) {
  return a.has_value() == b.has_value() && (!a || (a->row == b->row && a->position == b->position));
}

StyledText remarks_text(const GraphFigures& figures) {
  const FigureTotals& totals = figures.totals;
  std::string text =
      "Steps are numbered from 0, in the order of the file. MACs are multiply-accumulates. The total counts each "
      "weight once, even if several nodes read it. Its scratch is the largest of any node.";
  const bool has_bodies =
      std::any_of(figures.nodes.begin(), figures.nodes.end(), [](const NodeFigures& row) { return row.depth > 0; });
  if (has_bodies) text += " Nodes in bodies count once, however often they run; all branches of an If count.";
  if (totals.macs.left_out > 0)
    text += " The MACs of " + counted(totals.macs.left_out, "node") + " are not known and not in the total.";
  return paragraph(text);
}

// A cell of a CSV file.
std::string cell(const std::string& text) {
  std::string shown = report_internal::name_in_page(text);
  if (shown.find_first_of(",\"") == std::string::npos) return shown;
  std::string quoted = "\"";
  for (char character : shown) quoted += character == '"' ? "\"\"" : std::string(1, character);
  return quoted + "\"";
}

std::string path_of(const GraphFigures& figures, const NodeFigures& row) {
  std::string path;
  for (const NodeFigures* at = &row; at->outer; at = &figures.nodes[at->outer->row]) {
    const std::string body =
        std::to_string(figures.nodes[at->outer->row].node.value()) + "." + body_of(figures, *at->outer).name;
    path = path.empty() ? body : body + "/" + path;
  }
  return path;
}

}  // namespace

StyledText node_table(const GraphFigures& figures, const NodeTableOptions& options) {
  StyledText out("Nodes in the order of the file", Style::heading);
  out.end_line();
  if (figures.nodes.empty()) return out.add("  none").end_line();
  const std::vector<std::size_t> rows = shown_rows(figures, options.top.value_or(figures.nodes.size()));
  if (rows.empty()) return out.append(unlisted_text(figures.nodes.size(), "node"));
  TextTable table({Align::right, Align::left, Align::left, Align::right, Align::right, Align::right, Align::right,
                   Align::right, Align::right});
  table.add_row({dim("step"), dim("operator"), dim("name"), dim("read"), dim("written"), dim("scratch"), dim("weights"),
                 dim("MACs"), dim("share")});
  std::optional<OuterNode> outer;
  for (std::size_t at : rows) {
    const NodeFigures& row = figures.nodes[at];
    if (row.outer && !is_same(row.outer, outer)) add_body(table, figures, row);
    outer = row.outer;
    add_row(table, row, figures.totals.macs, options.wide);
  }
  if (rows.size() < figures.nodes.size()) {
    table.add_row(
        {StyledText(),
         dim("and " + with_thousands(static_cast<std::int64_t>(figures.nodes.size() - rows.size())) + " more")});
  }
  add_totals(table, figures.totals);
  return out.append(table.text()).append(remarks_text(figures));
}

std::string node_table_csv(const GraphFigures& figures) {
  std::string text = "step,inside,name,operator,read_bytes,written_bytes,scratch_bytes,constants_bytes,macs\n";
  for (const NodeFigures& row : figures.nodes) {
    text += std::to_string(row.node.value()) + "," + cell(path_of(figures, row)) + "," + cell(name_of(row)) + "," +
            cell(operator_of(row)) + "," + std::to_string(row.read.count()) + "," +
            std::to_string(row.written.count()) + "," + (row.scratch ? std::to_string(row.scratch->count()) : "") +
            "," + std::to_string(row.constants.count()) + "," + (row.macs ? std::to_string(*row.macs) : "") + "\n";
  }
  return text;
}

}  // namespace lowtide

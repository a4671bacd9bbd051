// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Saves the view as SVG or PNG, with title and legend.

const kExportScale = 2; // device pixels per pixel, so that a PNG prints well
const kMostExportPixels = 16000; // per side of a canvas; above it, browsers draw nothing

function exportTitle() {
  const sheet = state.inSight.at(-1);
  const now = totals(sheet);
  const gap =
    now.gap === null ? '' : `, bound ${shortBytes(now.bound)}, gap ${percentText(now.reached - now.bound, now.bound)}`;
  const name = elide(fileName(sheet) || 'plan', 60);
  return `${name}: ${sheet.words.top} ${shortBytes(now.arena)}, peak ${shortBytes(now.load)}${gap}`;
}

// The layout of the picture.
function exportLayout() {
  const hasCaptions = charts.length > 1;
  const top = hasCaptions ? 52 : 34;
  let x = 0;
  const places = charts.map((chart) => {
    const place = {chart, x, y: top, caption: hasCaptions ? (chart.sheet === state.shown ? 'after' : 'before') : null};
    x += chart.layout.width;
    return place;
  });
  const height = Math.max(...charts.map((chart) => chart.layout.height));
  const used = new Set(
    charts.flatMap((chart) =>
      Array.from(chart.facts.placed, (buffer) => Math.floor((chart.paints[buffer] % kDimmed) / kShades)),
    ),
  );
  let legendX = charts[0].layout.map.x;
  const items = [...used]
    .sort((a, b) => a - b)
    .map((at) => {
      const {name, color} = charts[0].classes[at];
      const item = {x: legendX, name: elide(name || '(no operator)', 28), color: cssColor(color)};
      legendX += 34 + item.name.length * kLetterWidth;
      return item;
    });
  for (const {text, color} of bandClasses(charts[0].sheet)) {
    items.push({x: legendX, name: text, color: cssColor(color)});
    legendX += 34 + text.length * kLetterWidth;
  }
  return {
    width: Math.max(x, legendX),
    height: top + height + 26,
    title: exportTitle(),
    places,
    legend: items,
    legendY: top + height + 12,
  };
}

function drawPicture(parts, scale) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(parts.width * scale);
  canvas.height = Math.round(parts.height * scale);
  const context = canvas.getContext('2d');
  const {ink} = charts[0];
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.fillStyle = ink.panel;
  context.fillRect(0, 0, parts.width, parts.height);
  for (const {chart, x, y, caption} of parts.places) {
    context.save();
    context.translate(x, y);
    chart.drawScene(context);
    context.drawImage(chart.overlay, 0, 0, chart.layout.width, chart.layout.height);
    context.font = kFont;
    if (caption) drawText(context, caption, chart.layout.map.x, -8, ink.muted);
    context.restore();
  }
  context.font = kFont;
  for (const {x, name, color} of parts.legend) {
    context.fillStyle = color;
    context.fillRect(x, parts.legendY - 9, 11, 11);
    drawText(context, name, x + 16, parts.legendY - 3, ink.text);
  }
  context.font = `600 ${kFont.replace('11px', '13px')}`;
  drawText(context, parts.title, 14, 18, ink.text);
  return canvas;
}

function save(blob, ending) {
  const graph = fileName(state.inSight.at(-1))
    .replace(/\.onnx$/, '')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .slice(0, 60);
  const address = URL.createObjectURL(blob);
  const link = make('a', {href: address, download: `${graph || 'plan'}_memory.${ending}`});
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
  announce(`Saved as ${ending.toUpperCase()}`);
}

// A saved picture shows neither search results nor the pointer.
function withoutSearch(make) {
  const {found} = state;
  state.found = null;
  charts.forEach((chart) => (chart.hover = null));
  paintCharts();
  charts.forEach(drawOverlay);
  const made = make();
  state.found = found;
  paintCharts();
  redraw();
  return made;
}

function exportSvg() {
  return withoutSearch(() => svgOf(exportLayout()));
}

function saveSvg() {
  save(new Blob([exportSvg()], {type: 'image/svg+xml'}), 'svg');
}

function savePng() {
  const parts = exportLayout();
  const scale = Math.min(kExportScale, kMostExportPixels / Math.max(parts.width, parts.height));
  withoutSearch(() => drawPicture(parts, scale)).toBlob((blob) => save(blob, 'png'), 'image/png');
}

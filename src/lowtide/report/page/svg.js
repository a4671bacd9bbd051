// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The view as an SVG picture: exact shapes, real text. Buffers too thin for a name are joined into one path a colour,
// so that 100,000 of them stay a few megabytes.

function xmlText(text) {
  return String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function fixed(number) {
  return String(Math.round(number * 100) / 100);
}

function svgText(x, y, text, color, {align = 'start', size = 11, weight = null} = {}) {
  return `<text x="${fixed(x)}" y="${fixed(y)}" fill="${color}" text-anchor="${align}" font-size="${size}"` +
      `${weight ? ` font-weight="${weight}"` : ''}>${xmlText(text)}</text>`;
}

function svgLine(x0, y0, x1, y1, color, dash = null) {
  return `<path d="M${fixed(x0)} ${fixed(y0)}L${fixed(x1)} ${fixed(y1)}" stroke="${color}" fill="none"${dash ? ` stroke-dasharray="${dash}"` : ''}/>`;
}

function svgAxes({layout: {map, load, left, axisY}, view: seen, ink, ...rest}, chart) {
  const parts = [];
  for (const at of byteTicks(seen.y0, seen.y1, map.h)) {
    parts.push(svgLine(map.x, chart.yOf(at), map.x + map.w, chart.yOf(at), ink.grid));
    parts.push(svgText(left - 8, chart.yOf(at) + 4, shortBytes(at), ink.muted, {align: 'end'}));
  }
  for (const step of stepTicks(seen, map.w)) {
    parts.push(svgLine(chart.xOf(step), load.y, chart.xOf(step), map.y + map.h, ink.grid));
    parts.push(svgText(chart.xOf(step), axisY + 4, countText(step), ink.muted, {align: 'middle'}));
  }
  return parts;
}

// One buffer's box, cut to the map; null if nothing of it is left.
function svgBox(chart, buffer) {
  const {sheet, layout: {map}} = chart;
  const x0 = Math.max(map.x, chart.xOf(sheet.bufferBegin[buffer]));
  const x1 = Math.min(map.x + map.w, chart.xOf(sheet.bufferEnd[buffer]));
  const y0 = Math.max(map.y, chart.yOf(sheet.bufferOffset[buffer] + sheet.bufferSize[buffer]));
  const y1 = Math.min(map.y + map.h, chart.yOf(sheet.bufferOffset[buffer]));
  return x1 > x0 && y1 >= y0 ? {x: x0, y: y0, w: x1 - x0, h: y1 - y0} : null;
}

function svgBuffers(chart) {
  const {sheet, facts, view: seen, paints, table, ink} = chart;
  const large = [];
  const thin = new Map();  // paint -> path
  facts.blocks.visit(seen.x0, seen.x1, seen.y0, seen.y1, (buffer) => {
    const box = svgBox(chart, buffer);
    if (box === null) return;
    const {css, text} = table[paints[buffer]];
    if (Math.min(box.w, box.h) < kCrispSide || large.length >= 2 * kMostCrisp) {
      const path = `M${fixed(box.x)} ${fixed(box.y)}h${fixed(box.w)}v${fixed(Math.max(box.h, 0.1))}h-${fixed(box.w)}z`;
      thin.set(paints[buffer], [...(thin.get(paints[buffer]) ?? []), path]);
      return;
    }
    const title = `${sheet.bufferText(buffer)}, ${exactBytes(sheet.bufferSize[buffer])}, ${spanText(sheet.bufferBegin[buffer], sheet.bufferEnd[buffer])}`;
    large.push(`<rect x="${fixed(box.x)}" y="${fixed(box.y)}" width="${fixed(box.w)}" height="${fixed(box.h)}" fill="${css}" ` +
               `stroke="${ink.map}" stroke-width="0.6"><title>${xmlText(title)}</title></rect>`);
    if (box.w >= 44 && box.h >= 13) {
      large.push(svgText(box.x + 5, box.y + box.h / 2 + 4, shortName(sheet.bufferText(buffer), Math.floor((box.w - 9) / kLetterWidth)), text));
    }
  });
  const joined = [...thin].map(([paint, path]) => `<path d="${path.join('')}" fill="${table[paint].css}"/>`);
  return [...joined, ...large];
}

function svgLoad(chart) {
  const {layout: {load, left}, facts, ink, sheet, loadTop, view: seen} = chart;
  const yOf = (bytes) => load.y + load.h - (bytes / loadTop) * load.h;
  const points = [];
  const pen = {moveTo: (x, y) => points.push(`M${fixed(x)} ${fixed(y)}`), lineTo: (x, y) => points.push(`L${fixed(x)} ${fixed(y)}`)};
  traceLoad(chart, pen, load, seen.x0, seen.x1, yOf);
  const limit = (bytes, name, color, dash, shift) => [
    svgLine(load.x, yOf(bytes), load.x + load.w, yOf(bytes), color, dash),
    svgText(load.x + load.w - 4, yOf(bytes) + shift, `${name} ${shortBytes(bytes)}`, color, {align: 'end'})];
  return [
    `<path d="${points.join('')}" fill="${ink.load}" fill-opacity="0.2" stroke="${ink.load}"/>`,
    svgText(left - 8, load.y + load.h, 'load', ink.muted, {align: 'end'}),
    ...(facts.arena > 0 ? limit(facts.arena, 'arena', ink.arena, '6 3', -4) : []),
    ...(sheet.usedRegions().length === 1 && sheet.facts.bound > 0 ? limit(sheet.facts.bound, 'bound', ink.bound, '2 3', 12) : []),
  ];
}

function svgChart(chart, x, y) {
  const {layout: {map}, facts, ink, scaleX, view: seen} = chart;
  const isPeakSeen = facts.largestLoad > 0 && facts.peakStep + 1 > seen.x0 && facts.peakStep < seen.x1;
  const peakX = Math.max(map.x, chart.xOf(facts.peakStep));
  return [
    `<g transform="translate(${fixed(x)} ${fixed(y)})">`,
    `<rect x="${map.x}" y="${map.y}" width="${fixed(map.w)}" height="${fixed(map.h)}" fill="${ink.map}"/>`,
    ...svgAxes(chart, chart), ...svgBuffers(chart), ...svgLoad(chart),
    isPeakSeen ? `<rect x="${fixed(peakX)}" y="${map.y}" width="${fixed(Math.min(Math.max(scaleX, 1), map.x + map.w - peakX))}" height="${fixed(map.h)}" fill="${ink.peak}" fill-opacity="0.18"/>` : '',
    '</g>',
  ].join('\n');
}

// `parts` as laid out by exportLayout.
function svgOf({width, height, title, places, legend: items, legendY}) {
  const {ink} = charts[0];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${fixed(width)}" height="${fixed(height)}" viewBox="0 0 ${fixed(width)} ${fixed(height)}" ` +
        'font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif">',
    `<title>${xmlText(title)}</title>`,
    `<rect width="100%" height="100%" fill="${ink.panel}"/>`,
    svgText(14, 22, title, ink.text, {size: 13, weight: 600}),
    ...places.map(({chart, x, y, caption}) => (caption ? svgText(x + chart.layout.map.x, y - 4, caption, ink.muted) : '') + svgChart(chart, x, y)),
    ...items.map(({x, name, color}) => `<rect x="${fixed(x)}" y="${legendY - 9}" width="11" height="11" fill="${color}"/>` + svgText(x + 16, legendY, name, ink.text)),
    '</svg>\n',
  ].join('\n');
}

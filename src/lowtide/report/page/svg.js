// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The view as an SVG picture with exact shapes and text. Buffers that are too thin for a name are joined into one path
// per colour, so that 100,000 of them take only a few megabytes.

function xmlText(text) {
  return String(text).replace(/[&<>"']/g, (letter) => `&#${letter.charCodeAt(0)};`);
}

function fixed(number) {
  return String(Math.round(number * 100) / 100);
}

function svgText(x, y, text, color, {align = 'start', size = 11, weight = null} = {}) {
  return (
    `<text x="${fixed(x)}" y="${fixed(y)}" fill="${color}" text-anchor="${align}" font-size="${size}"` +
    `${weight ? ` font-weight="${weight}"` : ''}>${xmlText(text)}</text>`
  );
}

function svgLine(x0, y0, x1, y1, color, dash = null) {
  const dashes = dash ? ` stroke-dasharray="${dash}"` : '';
  return `<path d="M${fixed(x0)} ${fixed(y0)}L${fixed(x1)} ${fixed(y1)}" stroke="${color}" fill="none"${dashes}/>`;
}

function svgAxes(chart) {
  const {
    layout: {map, load, left, axisY},
    view: seen,
    ink,
    sheet,
  } = chart;
  const parts = [];
  for (const at of byteTicks(seen.y0, seen.y1, map.h)) {
    parts.push(svgLine(map.x, chart.yOf(at), map.x + map.w, chart.yOf(at), ink.grid));
    parts.push(svgText(left - 8, chart.yOf(at) + 4, shortBytes(at), ink.muted, {align: 'end'}));
  }
  for (const {position, text} of sheet.axis.ticks(seen.x0, seen.x1, map.w, sheet)) {
    const x = map.x + (position - seen.x0) * chart.scaleX;
    parts.push(svgLine(x, load.y, x, map.y + map.h, ink.grid));
    parts.push(svgText(x, axisY + 4, text, ink.muted, {align: 'middle'}));
  }
  return parts;
}

// A block's box, clipped to the map; null if it is outside.
function svgBox(chart, block) {
  const {
    sheet,
    layout: {map},
  } = chart;
  const x0 = Math.max(map.x, chart.xOf(sheet.blockBegin[block]));
  const x1 = Math.min(map.x + map.w, chart.xOf(sheet.blockEnd[block]));
  const y0 = Math.max(map.y, chart.yOf(sheet.blockOffset[block] + sheet.blockSize[block]));
  const y1 = Math.min(map.y + map.h, chart.yOf(sheet.blockOffset[block]));
  return x1 > x0 && y1 >= y0 ? {block, x0, x1, y0, y1} : null;
}

// A pen that records the drawn path.
function svgPen(strokes) {
  return {
    moveTo: (x, y) => strokes.push(`M${fixed(x)} ${fixed(y)}`),
    lineTo: (x, y) => strokes.push(`L${fixed(x)} ${fixed(y)}`),
    closePath: () => strokes.push('z'),
  };
}

function svgRect({x, y, w, h}, fill, more = '') {
  return `<rect x="${fixed(x)}" y="${fixed(y)}" width="${fixed(w)}" height="${fixed(h)}" fill="${fill}"${more}/>`;
}

// A shape with a tooltip, and with its name if that fits.
function svgNamed(chart, buffer, boxes, {css, text}) {
  const {sheet, ink} = chart;
  const name = sheet.bufferText(buffer);
  const words = `${name}, ${exactBytes(sheet.bufferSize[buffer])}, ${sheet.lifeText(buffer)}`;
  const title = `<title>${xmlText(words)}</title>`;
  const line = ` stroke="${ink.map}" stroke-width="0.6"`;
  const shape = boxes.length === 1 ? svgRect(svgSides(boxes[0]), css, line) : svgStaircase(boxes, css, line);
  const titled = shape.replace(/<(\w+)([^>]*)\/>$/, (_, tag, attributes) => `<${tag}${attributes}>${title}</${tag}>`);
  const {x, y, w, h} = svgSides(boxForName(boxes) ?? boxes[0]);
  if (w < 44 || h < 13) return titled;
  const letters = Math.floor((w - 9) / kLetterWidth);
  const shown =
    letters < Math.min(kLeastName, name.length)
      ? shortBytes(sheet.bufferSize[buffer])
      : sheet.bufferText(buffer, letters);
  return titled + svgText(x + 5, y + h / 2 + 4, shown, text);
}

function svgSides({x0, x1, y0, y1}) {
  return {x: x0, y: y0, w: x1 - x0, h: y1 - y0};
}

function svgStaircase(boxes, fill, more) {
  const strokes = [];
  traceOutlines(svgPen(strokes), outlinesOf(boxes));
  return `<path d="${strokes.join('')}" fill="${fill}"${more}/>`;
}

// The boxes in sight of each buffer, in the order of its blocks: [[buffer, boxes], ...].
function svgBoxesInSight(chart) {
  const {facts, sheet, view: seen} = chart;
  const boxes = new Map();
  facts.blocks.visit(seen.x0, seen.x1, seen.y0, seen.y1, (block) => {
    const box = svgBox(chart, block);
    if (box === null) return;
    const buffer = sheet.blockBuffer[block];
    if (!boxes.has(buffer)) boxes.set(buffer, []);
    boxes.get(buffer).push(box);
  });
  for (const list of boxes.values()) list.sort((a, b) => a.block - b.block);
  return [...boxes];
}

function svgBuffers(chart) {
  const {paints, table} = chart;
  const named = [];
  const thin = new Map(); // paint -> pieces of its path
  for (const [buffer, boxes] of svgBoxesInSight(chart)) {
    const paint = paints[buffer];
    const height = boxes.reduce((sum, {y0, y1}) => sum + y1 - y0, 0);
    const width = Math.max(...boxes.map(({x0, x1}) => x1 - x0));
    if (Math.min(width, height) >= kCrispSide && named.length < kMostCrisp) {
      named.push(svgNamed(chart, buffer, boxes, table[paint]));
      continue;
    }
    if (!thin.has(paint)) thin.set(paint, []);
    for (const {x, y, w, h} of boxes.map(svgSides)) {
      const [wide, tall] = [fixed(w), fixed(Math.max(h, 0.1))];
      thin.get(paint).push(`M${fixed(x)} ${fixed(y)}h${wide}v${tall}h-${wide}z`);
    }
  }
  const joined = [...thin].map(([paint, pieces]) => `<path d="${pieces.join('')}" fill="${table[paint].css}"/>`);
  return [...joined, ...named];
}

function svgLoad(chart) {
  const {
    layout: {load},
    facts,
    ink,
    sheet,
    loadTop,
    view: seen,
  } = chart;
  const yOf = (bytes) => load.y + load.h - (bytes / loadTop) * load.h;
  const points = [];
  traceLoad(chart, svgPen(points), load, seen.x0, seen.x1, yOf);
  const limits = loadLimits(chart).flatMap(({bytes, text, color, dash, isLeft}) => [
    svgLine(load.x, yOf(bytes), load.x + load.w, yOf(bytes), color, dash.join(' ') || null),
    svgAtEdge(load, isLeft, yOf(bytes) + 12, text, color),
  ]);
  const words = peakWords(chart).filter(Boolean).join(': ');
  return [
    `<path d="${points.join('')}" fill="${ink.load}" fill-opacity="0.2" stroke="${ink.load}"/>`,
    svgText(4, load.y - 8, sheet.words.load, ink.muted),
    svgText(load.x + load.w, load.y - 8, facts.largestLoad > 0 ? words : '', ink.peak, {align: 'end'}),
    ...limits,
  ];
}

function svgAtEdge(area, isLeft, y, text, color) {
  return isLeft ? svgText(area.x + 4, y, text, color) : svgText(area.x + area.w - 4, y, text, color, {align: 'end'});
}

// The end of the arena and the capacity, as lines over the map.
function svgLimits(chart) {
  const {
    layout: {map},
    view: seen,
  } = chart;
  return limitLines(chart)
    .filter(({bytes}) => bytes > seen.y0 && bytes <= seen.y1)
    .flatMap(({bytes, text, color, dash, isLeft}) => [
      svgLine(map.x, chart.yOf(bytes), map.x + map.w, chart.yOf(bytes), color, dash.join(' ') || null),
      svgAtEdge(map, isLeft, chart.yOf(bytes) - 4, text, color),
    ]);
}

// The steps of each stream.
function svgLanes(chart) {
  const {
    sheet,
    ink,
    layout: {lanes, map, left},
    view: seen,
  } = chart;
  const parts = [];
  for (let stream = 0; stream < lanesOf(sheet); ++stream)
    parts.push(svgText(left - 8, laneY(chart, stream) + 11, laneName(sheet, stream), ink.muted, {align: 'end'}));
  const boxes = [];
  for (let step = 0; lanes.h > 0 && step < sheet.stepCount; ++step) {
    const [begin, end] = laneSpan(sheet, step).map((at) => Math.min(Math.max(at, seen.x0), seen.x1));
    if (end <= begin || sheet.stepStream[step] >= lanesOf(sheet)) continue;
    const x = map.x + (begin - seen.x0) * chart.scaleX;
    const wide = Math.max(0.4, (end - begin) * chart.scaleX - 0.6);
    const y = fixed(laneY(chart, sheet.stepStream[step]) + 1);
    boxes.push(`M${fixed(x)} ${y}h${fixed(wide)}v${kLaneHeight - 4}h-${fixed(wide)}z`);
  }
  return boxes.length === 0 ? parts : [...parts, `<path d="${boxes.join('')}" fill="${ink.load}"/>`];
}

function svgPeakLabels(chart) {
  const {ink} = chart;
  return peakLabels(chart).flatMap(({x, y, w, edge, isLeft, text}) => [
    svgLine(edge, y, isLeft ? x + w : x, y, ink.peak),
    svgRect({x, y: y - kPeakLabelHeight / 2, w, h: kPeakLabelHeight}, ink.panel, ` stroke="${ink.peak}"`),
    svgText(x + 5, y + 4, text, ink.text),
  ]);
}

// The peak's band over the map, clipped to the view.
function svgPeak(chart) {
  const {layout, facts, ink, sheet} = chart;
  const {map} = layout;
  const [first, last] = sheet.spanAt(facts.peakStep).map((step) => chart.xOf(step));
  const begin = Math.max(map.x, first);
  const end = Math.min(map.x + map.w, Math.max(last, first + 1));
  if (facts.largestLoad <= 0 || end <= begin) return '';
  return svgRect({x: begin, y: map.y, w: end - begin, h: map.h}, ink.peak, ' fill-opacity="0.18"');
}

function svgChart(chart, x, y) {
  const {layout, ink} = chart;
  return [
    `<g transform="translate(${fixed(x)} ${fixed(y)})">`,
    svgRect(layout.map, ink.map),
    ...svgAxes(chart),
    ...svgBuffers(chart),
    ...svgReturns(chart),
    ...svgLimits(chart),
    ...svgLoad(chart),
    ...svgLanes(chart),
    ...svgBands(chart),
    svgPeak(chart),
    ...svgPeakLabels(chart),
    ...svgOutside(chart),
    '</g>',
  ].join('\n');
}

// `parts` come from exportLayout.
function svgOf({width, height, title, places, legend: items, legendY}) {
  const {ink} = charts[0];
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${fixed(width)}" height="${fixed(height)}" ` +
      `viewBox="0 0 ${fixed(width)} ${fixed(height)}" ` +
      'font-family="system-ui, Segoe UI, Roboto, DejaVu Sans, sans-serif">',
    `<title>${xmlText(title)}</title>`,
    `<rect width="100%" height="100%" fill="${ink.panel}"/>`,
    svgText(14, 22, title, ink.text, {size: 13, weight: 600}),
    ...places.map(
      ({chart, x, y, caption}) =>
        (caption ? svgText(x + chart.layout.map.x, y - 4, caption, ink.muted) : '') + svgChart(chart, x, y),
    ),
    ...items.map(
      ({x, name, color}) =>
        `<rect x="${fixed(x)}" y="${legendY - 9}" width="11" height="11" fill="${color}"/>` +
        svgText(x + 16, legendY, name, ink.text),
    ),
    '</svg>\n',
  ].join('\n');
}

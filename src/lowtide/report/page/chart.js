// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Shows one sheet on two canvases: load, map and strip on the lower one, and what follows the pointer on the upper one.
// Drawing the upper one is cheap, and moving the pointer never draws the plan again.

const kWide = 560; // pixels: a narrower picture has smaller margins
const kOutsideBar = 22; // width of the bar beside the map
const kOutsideWidth = 128; // with its texts

// Areas in CSS pixels, from top to bottom: the sentence about the peak, the load, the lanes of streams, the bands, the
// map, the axis and the strip. `lanes` is their number, `bands` their height. `hasOutside`: with a bar beside the map.
function layOut(width, height, {lanes: laneCount, bands: bandHeight, hasOutside: hasBar}) {
  const left = width < kWide ? 62 : 76;
  const right = hasBar ? kOutsideWidth : 10;
  const inner = Math.max(20, width - left - right);
  const stripHeight = 22;
  const axisHeight = 24;
  const loadHeight = Math.round(Math.min(110, Math.max(44, height * (width < kWide ? 0.13 : 0.18))));
  const load = {x: left, y: width < kWide ? 40 : 34, w: inner, h: loadHeight};
  const lanes = {x: left, y: load.y + load.h + 10, w: inner, h: laneCount * kLaneHeight};
  const bands = {x: left, y: lanes.y + lanes.h + (laneCount > 0 && bandHeight > 0 ? 8 : 0), w: inner, h: bandHeight};
  const mapTop = bands.y + bands.h + (laneCount > 0 || bandHeight > 0 ? 8 : 0);
  const map = {x: left, y: mapTop, w: inner, h: Math.max(20, height - mapTop - axisHeight - stripHeight - 8)};
  const axisY = map.y + map.h + 13;
  const strip = {x: left, y: map.y + map.h + axisHeight, w: inner, h: stripHeight};
  const outside = hasBar ? {x: left + inner + 22, y: map.y + 12, bar: kOutsideBar, h: map.h - 12} : null;
  return {left, load, lanes, bands, map, axisY, strip, outside, width, height};
}

// The colours of the current theme.
function readInk() {
  const names = {
    text: 'text',
    muted: 'muted',
    grid: 'grid',
    axis: 'axis',
    map: 'map',
    load: 'load',
    bound: 'bound',
    arena: 'arena',
    peak: 'peak',
    accent: 'accent',
    stripFill: 'strip',
    stripLoad: 'strip-load',
    panel: 'panel',
    again: 'change-only',
    moved: 'change-shared',
    onFill: 'on-fill',
    limit: 'bad',
    'kind-input': 'kind-input',
    'kind-constant': 'kind-constant',
    'kind-state': 'kind-state',
  };
  const ink = Object.fromEntries(Object.entries(names).map(([key, css]) => [key, cssColor(css)]));
  ink.loadFill = `${ink.load}33`;
  ink.peakFill = `${ink.peak}2e`;
  ink.stripShade = `${ink.map}b0`;
  return ink;
}

class Chart {
  constructor(host, view) {
    this.host = host;
    this.view = view;
    this.title = make('div', {class: 'chart-title'});
    this.scene = make('canvas', {class: 'scene'});
    this.overlay = make('canvas', {class: 'overlay', tabindex: '0', role: 'application'});
    this.stage = make('div', {class: 'stage'}, this.scene, this.overlay);
    this.note = make('p', {class: 'nothing', hidden: true});
    this.stage.append(this.note);
    host.append(this.title, this.stage);
    this.raster = new Raster();
    this.hover = null; // {x, y, step, block, buffer}
    this.box = null; // a box being drawn with the pointer, in pixels
    this.frame = {count: 0};
    this.pending = {scene: false, overlay: false};
  }

  setSheet(sheet, title) {
    this.sheet = sheet;
    this.facts = regionFacts(sheet, state.region);
    const blockCount = this.facts.blocks.sorted.length;
    this.visible = new Int32Array(blockCount); // what collectVisible finds
    this.sides = new Float64Array(blockCount);
    this.boxes = new Float64Array(4 * blockCount);
    this.layer = null; // what makeLayer made last
    this.named = []; // boxes of the names in the map
    this.hover = null;
    fill(this.title, title);
    this.title.hidden = title === '';
    this.overlay.setAttribute(
      'aria-label',
      `Map of ${plural(this.facts.placed.length, 'buffer')} over ` +
        `${plural(sheet.columnCount, sheet.isPacking ? 'moment' : 'step')}${bandWords(sheet)}: ` +
        'arrows pan, plus and minus zoom, comma and full stop go from buffer to buffer',
    );
    this.noteEmptyView();
  }

  // Says why the map is empty, if it is.
  noteEmptyView() {
    const {sheet, facts, layer} = this;
    const isEmpty = facts.placed.length === 0;
    const isAside = !isEmpty && layer !== null && layer.count === 0;
    this.note.hidden = !isEmpty && !isAside;
    if (this.note.hidden) return;
    const words = sheet.stepCount === 0 ? sheet.words.empty : sheet.words.unplaced;
    fill(this.note, isAside ? 'Nothing is live here. Press 0 to show all, or P for the peak.' : words);
  }

  // `classes` and `classOf` come from paintSheet; `lit` is as for paintsOf.
  setPaint({classes, classOf}, lit) {
    this.classes = classes;
    this.paints = paintsOf(this.sheet, classOf, lit);
    this.table = mixPaints(classes);
    this.ink = readInk();
    this.bandInk = kBandColours.map(cssColor);
    const context = this.scene.getContext('2d');
    this.hatch = makeHatch(context, `${this.ink.map}66`);
    this.hatchAgain = makeHatch(context, `${this.ink.map}90`, {isFalling: true, width: 2});
  }

  get scaleX() {
    return this.layout.map.w / (this.view.x1 - this.view.x0);
  }

  get scaleY() {
    return this.layout.map.h / (this.view.y1 - this.view.y0);
  }

  xOf(step) {
    return this.layout.map.x + (this.sheet.axis.at(step) - this.view.x0) * this.scaleX;
  }

  yOf(bytes) {
    return this.layout.map.y + this.layout.map.h - (bytes - this.view.y0) * this.scaleY;
  }

  positionAt(x) {
    return this.view.x0 + (x - this.layout.map.x) / this.scaleX;
  }

  stepAt(x) {
    return this.sheet.axis.stepAt(this.positionAt(x));
  }

  bytesAt(y) {
    return this.view.y0 + (this.layout.map.y + this.layout.map.h - y) / this.scaleY;
  }

  widthOf(text) {
    const context = this.scene.getContext('2d');
    context.font = kFont;
    return context.measureText(text).width;
  }

  // The block under a pixel, or the nearest one within 3 pixels, because some blocks are thin.
  blockAt(x, y) {
    const {map} = this.layout;
    if (x < map.x || x > map.x + map.w || y < map.y || y > map.y + map.h) return kNone;
    return this.facts.blocks.at(this.positionAt(x), this.bytesAt(y), 3 / this.scaleX, 3 / this.scaleY);
  }

  bufferAt(x, y) {
    const block = this.blockAt(x, y);
    return block === kNone ? kNone : this.sheet.blockBuffer[block];
  }

  resize() {
    const width = Math.max(160, this.stage.clientWidth);
    const height = Math.max(160, this.stage.clientHeight);
    this.ratio = window.devicePixelRatio || 1;
    for (const canvas of [this.scene, this.overlay]) {
      canvas.width = Math.round(width * this.ratio);
      canvas.height = Math.round(height * this.ratio);
    }
    this.layout = layOut(width, height, {
      lanes: lanesOf(this.sheet),
      bands: heightOfBands(this.sheet),
      hasOutside: hasOutside(this.sheet, width),
    });
    this.draw();
  }

  // Draws 'scene' or 'overlay' in the next frame. Several requests draw once.
  request(what) {
    const isScheduled = this.pending.scene || this.pending.overlay;
    this.pending[what] = true;
    if (isScheduled) return;
    requestAnimationFrame(() => {
      const {scene} = this.pending;
      this.pending = {scene: false, overlay: false};
      if (scene) this.draw();
      else drawOverlay(this);
    });
  }

  draw() {
    if (!this.layout || !this.paints) return;
    const started = performance.now();
    const context = this.scene.getContext('2d');
    context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.drawScene(context);
    ++this.frame.count;
    this.frame.milliseconds = performance.now() - started;
    drawOverlay(this);
  }

  // Draws everything except what follows the pointer, on the screen or on an exported picture.
  drawScene(context) {
    const {width, height, map} = this.layout;
    context.fillStyle = this.ink.panel;
    context.fillRect(0, 0, width, height);
    context.fillStyle = this.ink.map;
    context.fillRect(map.x, map.y, map.w, map.h);
    drawAxes(this, context);
    drawMap(this, context);
    drawFolds(this, context);
    drawLimits(this, context);
    drawLoad(this, context);
    drawLanes(this, context);
    drawBands(this, context);
    drawPeakLabels(this, context);
    drawOutside(this, context);
    drawStrip(this, context);
    this.noteEmptyView();
  }
}

// A pattern of diagonal lines, which rise or fall from left to right.
function makeHatch(context, color, {isFalling = false, width = 1.5} = {}) {
  const tile = document.createElement('canvas');
  tile.width = tile.height = 8;
  const lines = tile.getContext('2d');
  lines.strokeStyle = color;
  lines.lineWidth = width;
  for (const shift of [-8, 0, 8]) {
    lines.beginPath();
    lines.moveTo(shift, isFalling ? 0 : 8);
    lines.lineTo(shift + 8, isFalling ? 8 : 0);
    lines.stroke();
  }
  return context.createPattern(tile, 'repeat');
}

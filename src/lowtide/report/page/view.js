// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The visible range of positions (axis.js) and bytes. Side by side, both charts have the same view.

class View {
  constructor() {
    this.setDomain(1, 1);
  }

  // All positions and bytes; the view is fitted to them. `unit` is the average width of a step.
  setDomain(steps, top, unit = 1) {
    this.steps = Math.max(steps, unit);
    this.top = Math.max(top, 1);
    this.unit = unit;
    this.fit();
  }

  // Some space above the arena, none beside it.
  get whole() {
    return this.top * 1.06;
  }

  fit() {
    [this.x0, this.x1, this.y0, this.y1] = [0, this.steps, 0, this.whole];
  }

  // Scales around a fixed point. A factor below 1 zooms in.
  zoom(factorX, factorY, x, y) {
    this.x0 = x + (this.x0 - x) * factorX;
    this.x1 = x + (this.x1 - x) * factorX;
    this.y0 = y + (this.y0 - y) * factorY;
    this.y1 = y + (this.y1 - y) * factorY;
    this.keepInside();
  }

  pan(dx, dy) {
    this.x0 += dx;
    this.x1 += dx;
    this.y0 += dy;
    this.y1 += dy;
    this.keepInside();
  }

  // Shows a box with its surroundings: 2.5 times its width and height, within limits.
  showBox(x0, x1, y0, y1) {
    const width = Math.min(this.steps, Math.max((x1 - x0) * 2.5, 12 * this.unit));
    const height = Math.min(this.whole, Math.max((y1 - y0) * 2.5, this.top / 64));
    const x = (x0 + x1) / 2;
    const y = (y0 + y1) / 2;
    [this.x0, this.x1, this.y0, this.y1] = [x - width / 2, x + width / 2, y - height / 2, y + height / 2];
    this.keepInside();
  }

  // Shows the peak with 20 steps on each side, and its addresses with a small margin.
  showPeak(x0, x1, y0, y1) {
    const beside = 20 * this.unit;
    const air = (y1 - y0) * 0.06;
    this.setBox(x0 - beside, x1 + beside, Math.max(0, y0 - air), Math.min(this.whole, y1 + air));
  }

  // Shows exactly this box, such as one drawn with the pointer.
  setBox(x0, x1, y0, y1) {
    [this.x0, this.x1, this.y0, this.y1] = [x0, x1, y0, y1];
    this.keepInside();
  }

  // Keeps at least two steps and a few bytes, and stays within the plan.
  keepInside() {
    const least = Math.max(2 * this.unit, this.steps * 2 ** -40); // numbers cannot resolve less if times are very large
    [this.x0, this.x1] = View.clampSpan(this.x0, this.x1, Math.min(least, this.steps), this.steps);
    const height = this.whole;
    [this.y0, this.y1] = View.clampSpan(this.y0, this.y1, Math.min(16, height), height);
  }

  static clampSpan(begin, end, least, most) {
    const width = Math.min(Math.max(end - begin, least), most);
    const centre = (begin + end) / 2;
    const first = Math.min(Math.max(centre - width / 2, 0), most - width);
    return [first, first + width];
  }
}

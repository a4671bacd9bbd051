// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// A picture of all buffers that are too thin for rectangles. Each pixel takes the colour of the buffer that covers most
// of it, with the covered share as opacity. So a million buffers cost only the pixels that they cover, and half-empty
// areas look half empty.

const kLeastOpacity = 0.25; // nothing that exists is invisible

class Raster {
  constructor() {
    this.canvas = document.createElement('canvas');
    this.context = this.canvas.getContext('2d');
    this.width = 0;
    this.height = 0;
  }

  // Clears the picture and sets its size. Memory is reused between frames.
  begin(width, height) {
    if (width !== this.width || height !== this.height) {
      [this.width, this.height] = [width, height];
      this.canvas.width = width;
      this.canvas.height = height;
      const cells = width * height;
      this.covered = new Float32Array(cells);
      this.most = new Float32Array(cells);
      this.paint = new Uint8Array(cells);
      this.image = new ImageData(width, height);
      this.pixels = new Uint32Array(this.image.data.buffer);
    } else {
      this.covered.fill(0);
      this.most.fill(0);
    }
    this.cells = 0; // pixels touched in this frame
  }

  // Adds [x0, x1) x [y0, y1) in pixels. Any other paint replaces a dimmed one.
  add(x0, y0, x1, y1, paint) {
    const {width, covered, most} = this;
    const left = x0 > 0 ? x0 : 0;
    const top = y0 > 0 ? y0 : 0;
    const right = Math.min(Math.max(x1, left + 0.05), width);
    const bottom = Math.min(Math.max(y1, top + 0.05), this.height);
    const firstColumn = Math.floor(left);
    const lastColumn = Math.ceil(right) - 1;
    const lastRow = Math.ceil(bottom) - 1;
    const weight = paint >= kDimmed ? 1e-4 : 1;
    for (let row = Math.floor(top); row <= lastRow; ++row) {
      const tall = Math.min(bottom, row + 1) - Math.max(top, row);
      const rowStart = row * width;
      for (let column = firstColumn; column <= lastColumn; ++column) {
        const wide = (column === lastColumn ? right : column + 1) - (column === firstColumn ? left : column);
        const share = wide * tall;
        const cell = rowStart + column;
        covered[cell] += share;
        if (share * weight > most[cell]) {
          most[cell] = share * weight;
          this.paint[cell] = paint;
        }
      }
    }
    this.cells += Math.max(0, lastRow - Math.floor(top) + 1) * Math.max(0, lastColumn - firstColumn + 1);
  }

  // Draws it onto the canvas, one cell per pixel. `table` comes from mixPaints.
  finish(table) {
    const solid = new Uint32Array(256);
    table.forEach(({rgb: [r, g, b]}, paint) => (solid[paint] = (b << 16) | (g << 8) | r));
    const {pixels, covered, paint} = this;
    for (let cell = 0; cell < pixels.length; ++cell) {
      if (covered[cell] === 0) {
        pixels[cell] = 0;
        continue;
      }
      const opacity = kLeastOpacity + (1 - kLeastOpacity) * Math.min(1, covered[cell]);
      pixels[cell] = solid[paint[cell]] | (Math.round(opacity * 255) << 24);
    }
    this.context.putImageData(this.image, 0, 0);
  }
}

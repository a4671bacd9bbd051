// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// The light and dark themes. page.css defines every colour once, and drawings read the colours from there.

const kHueCount = 8; // operators with a colour of their own; the rest share one

const theme = {name: 'light', isChosen: false};

function applyTheme(name) {
  theme.name = name;
  document.documentElement.dataset.theme = name;
}

// Follows the system until the reader chooses.
function startTheme(changed) {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  applyTheme(dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', () => {
    if (theme.isChosen) return;
    applyTheme(dark.matches ? 'dark' : 'light');
    changed();
  });
}

function switchTheme() {
  theme.isChosen = true;
  applyTheme(theme.name === 'dark' ? 'light' : 'dark');
}

function cssColor(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

// '#rrggbb' -> [r, g, b]
function channels(hex) {
  const number = parseInt(hex.slice(1), 16);
  return [(number >> 16) & 255, (number >> 8) & 255, number & 255];
}

function hexOf([r, g, b]) {
  return `#${((1 << 24) | (Math.round(r) << 16) | (Math.round(g) << 8) | Math.round(b)).toString(16).slice(1)}`;
}

function mix(from, to, share) {
  return from.map((channel, at) => channel + (to[at] - channel) * share);
}

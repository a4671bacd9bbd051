// Copyright 2026 The Lowtide Authors
// SPDX-License-Identifier: Apache-2.0

// Numbers for people: sizes in IEC units and exact bytes.

const kUnits = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB', 'EiB'];
const kGrouped = new Intl.NumberFormat('en-US', {maximumFractionDigits: 0});

function countText(number) {
  return kGrouped.format(number);
}

// 1,269,760 B
function exactBytes(bytes) {
  return `${countText(bytes)} B`;
}

// 1.21 MiB
function shortBytes(bytes) {
  const negative = bytes < 0 ? '−' : '';
  let amount = Math.abs(bytes);
  let unit = 0;
  while (amount >= 1024 && unit + 1 < kUnits.length) {
    amount /= 1024;
    ++unit;
  }
  const digits = unit === 0 || Number.isInteger(amount) ? 0 : amount < 10 ? 2 : amount < 100 ? 1 : 0;
  return `${negative}${amount.toFixed(digits)} ${kUnits[unit]}`;
}

// 1.21 MiB (1,269,760 B); below 1 KiB only the bytes
function bothBytes(bytes) {
  return Math.abs(bytes) < 1024 ? exactBytes(bytes) : `${shortBytes(bytes)} (${exactBytes(bytes)})`;
}

// +64 KiB, −64 KiB, ±0
function changeBytes(bytes) {
  if (bytes === 0) return '±0';
  return `${bytes > 0 ? '+' : '−'}${shortBytes(Math.abs(bytes))}`;
}

// 17.2x, 1,234x
function factorText(factor) {
  const amount = Math.abs(factor);
  return `${factor < 0 ? '−' : ''}${amount < 1000 ? amount.toFixed(1) : countText(amount)}x`;
}

// Returns a factor from 1,000 % on.
function percentText(part, whole) {
  if (part === 0) return '0 %';
  if (whole === 0) return '-';
  const percent = (part / whole) * 100;
  if (Math.abs(percent) >= 1000) return factorText(percent / 100);
  if (Math.abs(percent) < 0.1) return percent > 0 ? '< 0.1 %' : '> −0.1 %';
  return `${percent.toFixed(Math.abs(percent) < 10 ? 1 : 0).replace('-', '−')} %`;
}

// A half-open interval: [2,6) are the steps 2, 3, 4 and 5. The numbers are not grouped, since a comma separates them.
function intervalText(begin, end) {
  return `[${begin},${end})`;
}

function spanText(begin, end) {
  return end <= begin ? 'no step' : `steps ${intervalText(begin, end)}`;
}

function plural(count, noun) {
  return `${countText(count)} ${noun}${count === 1 ? '' : 's'}`;
}

// The greatest of 1, 2, 5, 10, 20, 50, ... that is at most `width` (at least 1).
function roundStep(width) {
  const power = 10 ** Math.floor(Math.log10(Math.max(width, 1)));
  const lead = Math.max(width, 1) / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
}

// The least power of two that is at least `bytes` (at least 1): addresses are binary.
function roundBytes(bytes) {
  return 2 ** Math.max(0, Math.ceil(Math.log2(Math.max(bytes, 1))));
}

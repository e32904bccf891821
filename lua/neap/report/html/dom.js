// Small tools of the page: elements, numbers, text. Text of recordings only ever becomes text.
// next: data.js
"use strict";

const RUNGS = ["absent", "full", "trimmed", "reference", "masked", "dropped", "folded"];
const REGIONS = ["fixed", "task", "memory", "warm", "state", "hot"];

// An element with attributes and children; strings become text. `on…` are listeners.
function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(9).filter((c) => c !== undefined && c !== null && c !== false));
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  return fill(node, attributes, children);
}

const byId = (id) => document.getElementById(id);

// Text of others, whose direction stays inside.
const bdi = (text) => el("bdi", {}, text);

// 21870 -> "21,870"
const count = (n) => Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, ",");

// 21870 -> "21.9k", for axes.
function short(n) {
  const units = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];
  for (const [size, unit] of units) {
    if (Math.abs(n) >= size) return `${+(n / size).toFixed(n >= 100 * size ? 0 : 1)}${unit}`;
  }
  return `${+n.toFixed(2)}`;
}

const percent = (share) => `${(100 * share).toFixed(1)} %`;
const part = (n, of) => (of ? percent(n / of) : "–");
const plural = (n, one) => `${count(n)} ${one}${n === 1 ? "" : "s"}`;

// At most `most` round numbers from 0 or `from` to `to`.
function ticks(from, to, most) {
  const span = Math.max(to - from, 1e-9), raw = span / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= raw * 0.999);
  const list = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k++) list.push(k * step);
  return list;
}

// What a colour of the style sheet is now.
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// How wide a text of a picture is, in the font that pictures have.
let ruler;
function textWidth(text) {
  if (!ruler) {
    ruler = svg("text", {});
    document.body.append(svg("svg", { class: "unseen", "aria-hidden": "true" }, ruler));
  }
  ruler.textContent = text;
  return ruler.getComputedTextLength();
}

const clamp = (n, least, most) => Math.max(least, Math.min(most, n));

function cut(text, most) {
  const list = [...text];
  return list.length <= most ? text : `${list.slice(0, most - 1).join("")}…`;
}

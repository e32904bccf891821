// Makes the vocabulary files from the npm package `tiktoken`, unpacked in a folder:
//   node vocab.mjs PACKAGE_FOLDER OUTPUT_FOLDER
// The package must have been checked before (see ../token.mk). Every token but the single
// bytes is written as the two tokens whose merge makes it: that gives its bytes and its
// merge at once, in about four bytes. The form is described in ../data/README.md.
// next: ../vocab.c
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = 1;
const SOURCE = "npm tiktoken 1.0.22";
const LICENCE = "MIT";
const SPLITS = { cl100k_base: 1, o200k_base: 2 };

const [from, to] = process.argv.slice(2);
if (!to) fail("usage: node vocab.mjs PACKAGE_FOLDER OUTPUT_FOLDER");

function fail(text) {
  console.error(`vocab.mjs: ${text}`);
  process.exit(1);
}

// Lines of `MARK FIRST_ID TOKEN TOKEN …`, tokens in base64; ids are dense from 0.
function readRanks(text) {
  const tokens = [];
  for (const line of text.split("\n").filter(Boolean)) {
    const [, first, ...rest] = line.split(" ");
    if (Number(first) !== tokens.length) fail(`ids have a hole before ${first}`);
    for (const item of rest) tokens.push(Buffer.from(item, "base64").toString("latin1"));
  }
  return tokens;
}

// The last merge of a token's bytes; null when merging lowest ids first never ends there.
function lastMerge(ids, token) {
  const parts = [...token];
  for (;;) {
    let best = Infinity;
    let at = -1;
    for (let i = 0; i + 1 < parts.length; i++) {
      const id = ids.get(parts[i] + parts[i + 1]);
      if (id !== undefined && id < best) [best, at] = [id, i];
    }
    if (at < 0) return null;
    if (parts.length === 2) return parts.map((part) => ids.get(part));
    parts.splice(at, 2, parts[at] + parts[at + 1]);
  }
}

function varint(out, n) {
  for (; n >= 128; n >>>= 7) out.push((n & 127) | 128);
  out.push(n);
}

function string(out, text) {
  const bytes = Buffer.from(text, "utf8");
  varint(out, bytes.length);
  out.push(...bytes);
}

function writeTokens(out, tokens) {
  const ids = new Map(tokens.map((token, id) => [token, id]));
  if (ids.size !== tokens.length) fail("two tokens have the same bytes");
  tokens.forEach((token, id) => {
    if (token.length === 1) return out.push(0, token.charCodeAt(0));
    const pair = lastMerge(ids, token);
    if (!pair || Math.max(...pair) >= id) fail(`token ${id} is no merge of lower ids`);
    varint(out, pair[0] + 1);
    varint(out, pair[1]);
  });
}

// Sizes by which the reader makes its tables.
function sizes(tokens) {
  const prefixes = new Set();
  let bytes = 0;
  let longest = 0;
  for (const token of tokens) {
    bytes += token.length;
    longest = Math.max(longest, token.length);
    for (let n = 1; n <= token.length; n++) prefixes.add(token.slice(0, n));
  }
  return [tokens.length, bytes, longest, prefixes.size];
}

function convert(name) {
  const json = JSON.parse(readFileSync(join(from, "encoders", `${name}.json`), "utf8"));
  const tokens = readRanks(json.bpe_ranks);
  const out = [];
  for (const text of [name, SOURCE, LICENCE]) string(out, text);
  varint(out, SPLITS[name]);
  for (const size of sizes(tokens)) varint(out, size);
  const special = Object.entries(json.special_tokens).sort((a, b) => a[1] - b[1]);
  varint(out, special.length);
  for (const [text, id] of special) {
    varint(out, id);
    string(out, text);
  }
  writeTokens(out, tokens);
  const content = Buffer.from(out);
  const head = Buffer.alloc(16);
  head.write("neapvoc\n", 0, "latin1");
  head.writeUInt32LE(VERSION, 8);
  head.writeUInt32LE(content.length, 12);
  const sum = createHash("sha256").update(head).update(content).digest();
  const all = Buffer.concat([head, content, sum]);
  const file = join(to, `${name}.neapvocab`);
  writeFileSync(file, all);
  const whole = createHash("sha256").update(all).digest("hex");
  console.log(`${whole}  ${file} (${all.length} bytes)`);
}

for (const name of Object.keys(SPLITS)) convert(name);

-- The policies as a table of plain HTML: it can be read without script, page.js makes it sort.
-- next: page.lua
local grid = require("neap.report.grid")
local safe = require("neap.report.html.safe")

local M = {}

local function percent(share)
  return share and ("%.1f"):format(100 * share)
end

local function of(part, whole)
  return whole and whole > 0 and part and part / whole or nil
end

-- The share of the cited facts that were in a state.
local function fact(state)
  return function(row)
    return of(row.facts_far[state], row.facts_far.cited)
  end
end

local function mean(name)
  return function(row)
    return row.means[name] and row.means[name].mean
  end
end

local function whole(value)
  return grid.thousands(math.floor(value + 0.5))
end

local function plain(name)
  return function(row)
    return row[name]
  end
end

---@class neap.HtmlColumn
---@field [1] string            the header
---@field [2] string            what it means
---@field of fun(row: table, full: table): number?
---@field text fun(value: number, row: table): string
---@field range string?         the row's member that has an interval
---@field always boolean?       stays where nothing of it happened

---@type neap.HtmlColumn[]
local COLUMNS = {
  {
    "cost",
    "of all recordings; 1 is an uncached token",
    of = plain("cost"),
    text = function(value, row)
      return row.currency and ("$%.2f"):format(value) or whole(value)
    end,
    always = true,
  },
  {
    "% of full",
    "the share of what it costs without a window",
    of = function(row, full)
      return of(row.cost, full.cost)
    end,
    text = percent,
    range = "cost_interval",
    always = true,
  },
  { "present", "% of cited facts shown word for word", of = fact("present"), text = percent },
  { "noted", "% only in a summary that is shown", of = fact("noted"), text = percent },
  { "pointed", "% only behind a mark, one read away", of = fact("pointed"), text = percent },
  {
    "gone",
    "% of cited facts of which nothing was shown",
    of = fact("gone"),
    text = percent,
    range = "gone_interval",
    always = true,
  },
  {
    "reach",
    "% of the way from random's gone to the oracle's",
    of = plain("reach"),
    text = function(value)
      return ("%.0f"):format(100 * value)
    end,
  },
  {
    "words",
    "% of rare plain words still shown when used again",
    of = function(row)
      return of(row.words.present, row.words.cited)
    end,
    text = percent,
  },
  { "dense", "% of tokens that later steps used", of = mean("density"), text = percent },
  { "rules", "% of constraints shown, turn by turn", of = mean("constraints"), text = percent },
  { "cached", "% of the input that was read from the cache", of = function(row)
    return of(row.cached_tokens, row.input_tokens)
  end, text = percent },
  { "epochs", "rewrites of what was sent, and 1 a recording", of = plain("epochs"), text = whole },
  { "input", "tokens of all prompts", of = plain("input_tokens"), text = whole },
  { "repeats", "calls made again whose result was not shown", of = plain("repeats"), text = whole },
  { "overflow", "turns that did not fit", of = plain("overflow"), text = whole },
  { "errors", "of hooks", of = plain("hook_errors"), text = whole },
}

-- Columns in which something happened.
local function columns_of(rows, full)
  local list = {}
  for _, column in ipairs(COLUMNS) do
    local says = column.always
    for _, row in ipairs(rows) do
      local value = column.of(row, full)
      says = says or value and value ~= 0
    end
    if says then list[#list + 1] = column end
  end
  return list
end

local function cell(column, row, full)
  local value = column.of(row, full)
  if not value then return '<td data-value="-1">–</td>' end
  local range = column.range and row[column.range]
  local more = range
      and ('<span class="range">%.0f to %.0f</span>'):format(100 * range[1], 100 * range[2])
    or ""
  local exact = ("%.6f"):format(value):gsub("0+$", ""):gsub("%.$", "")
  return ('<td data-value="%s">%s%s</td>'):format(exact, safe.html(column.text(value, row)), more)
end

--- What a row is called: the reference without a window is not the policy of that name.
---@param row table
---@return string
function M.label(row)
  return row.policy .. (row.unbounded and " (unbounded)" or "")
end

local function kind(row)
  if row.best then return " ★" end
  return row.reference and " (reference)" or ""
end

local function body_row(row, index, columns, full)
  local label = safe.html(M.label(row))
  local cells = {
    ('<tr data-row="%d"><th scope="row"><bdi class="name">%s</bdi>%s</th><td>%d</td>'):format(
      index - 1,
      label,
      kind(row),
      index
    ),
  }
  for _, column in ipairs(columns) do
    cells[#cells + 1] = cell(column, row, full)
  end
  return table.concat(cells) .. "</tr>"
end

--- The table's element.
---@param rows table[] of compare
---@param full table the row without a window
---@return string
function M.html(rows, full)
  local columns = columns_of(rows, full)
  local out = { '<table id="table"><caption class="unseen">Policies</caption>' }
  out[2] = '<thead><tr><th scope="col">policy</th><th scope="col" title="in the plot">no.</th>'
  for _, column in ipairs(columns) do
    local form = '<th scope="col" title="%s">%s</th>'
    out[#out + 1] = form:format(safe.html(column[2]), safe.html(column[1]))
  end
  out[#out + 1] = "</tr></thead>\n<tbody>\n"
  for i, row in ipairs(rows) do
    out[#out + 1] = body_row(row, i, columns, full) .. "\n"
  end
  out[#out + 1] = "</tbody></table>"
  return table.concat(out)
end

return M

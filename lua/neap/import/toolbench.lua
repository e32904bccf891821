-- ToolBench's answers: a tree of tries, and the messages of the chain that won or came
-- last, in the old form of function calls. That chain is the session; a thought and the
-- call after it are one response. The tree, the other candidates and earlier states of
-- the messages are kept aside. Where the messages are missing the chain is read from the
-- tree. next: webvoyager.lua
local core = require("neap.core")
local build = require("neap.import.build")
local look = require("neap.import.look")
local steps = require("neap.import.steps")
local json = core.json

local M = { name = "toolbench", about = "ToolBench answer trees" }

function M.detect(_, head)
  local seen = look.paths(head)
  if seen["answer_generation.train_messages"] then return 90 end
  return seen["tree.tree"] and (seen.win or seen.forward_args) and 90 or 0
end

local RAW = { content = true, arguments = true }
local KNOWN = { role = true, content = true, function_call = true, name = true }

-- A call joins the assistant's text right before it.
local function assistant(state, value, content, line)
  local call = value.function_call
  local message = state.last
  if build.absent(call) or not message or message.tool_calls or content then
    message = { role = "assistant", content = content or json.null }
    message.meta = steps.rest(state.source, value, KNOWN)
    state.drafts[#state.drafts + 1] = { message = message, line = line }
  else
    state.source.counts.merged = state.source.counts.merged + 1
  end
  if not build.absent(call) then
    local calls, why = steps.calls(json.array({ call }), state.serial)
    if why then return why end
    message.tool_calls, state.open = calls, calls[1]
  end
  state.last = message
end

local function result(state, value, content, line)
  local open = state.open
  if not open then return "a function's result needs its call before it" end
  local message = { role = "tool", tool_call_id = open.id, name = open["function"].name }
  message.content, message.meta = content or "", steps.rest(state.source, value, KNOWN)
  state.open, state.last = nil, nil
  state.drafts[#state.drafts + 1] = { message = message, line = line }
end

local function read_message(state, value, line)
  local content, why = steps.content(value.content)
  if why then return why end
  if value.role == "assistant" then return assistant(state, value, content, line) end
  if value.role == "function" or value.role == "tool" then
    return result(state, value, content, line)
  end
  if value.role ~= "system" and value.role ~= "user" then
    return "a message needs a role: system, user, assistant or function"
  end
  if not content then return "content is missing: a string is expected" end
  local message = { role = value.role, content = content }
  message.meta = steps.rest(state.source, value, KNOWN)
  state.last, state.open = nil, nil
  state.drafts[#state.drafts + 1] = { message = message, line = line }
end

-- Walks the tree: the last leaf, or the last that finished with an answer; how many
-- leaves.
local function best_leaf(root)
  local stack, leaves, best = { { node = root } }, 0, nil
  while #stack > 0 do
    local at = table.remove(stack)
    local node = at.node
    local children = json.is_array(node.children) and node.children or {}
    if #children == 0 then
      leaves = leaves + 1
      local answered = node.finished == true
        and node.pruned ~= true
        and not tostring(node.description):find("give_up", 1, true)
      if not best or answered or not best.answered then best = at end
      at.answered = answered
    end
    for i = #children, 1, -1 do
      if steps.is_object(children[i]) then
        stack[#stack + 1] = { node = children[i], parent = at }
      end
    end
  end
  return best, leaves
end

local function add_node(state, node, line)
  local said = type(node.description) == "string" and node.description or ""
  if node.node_type == "Thought" then
    local message = { role = "assistant", content = said }
    state.last = message
    state.drafts[#state.drafts + 1] = { message = message, line = line }
  elseif node.node_type == "Action" then
    state.action = said
  elseif node.node_type == "Action Input" and state.action then
    local call = build.call(state.serial(), state.action, said)
    local message = state.last
    if not message then
      message = { role = "assistant", content = json.null }
      state.drafts[#state.drafts + 1] = { message = message, line = line }
    end
    message.tool_calls = json.array({ call })
    state.last, state.action = nil, nil
    if type(node.observation) == "string" then
      local seen = { role = "tool", tool_call_id = call.id, content = node.observation }
      seen.name = call["function"].name
      state.drafts[#state.drafts + 1] = { message = seen, line = line }
    end
  end
end

-- The chain of the tree, from its root to the best leaf.
local function read_chain(state, leaf, query, line)
  if type(query) == "string" then
    local message = { role = "user", content = query }
    state.drafts[1] = { message = message, line = line }
  end
  local chain = {}
  while leaf do
    chain[#chain + 1] = leaf.node
    leaf = leaf.parent
  end
  for i = #chain, 1, -1 do
    state.source.counts.records = state.source.counts.records + 1
    add_node(state, chain[i], line)
  end
end

-- Schemas in the form of today.
local function tools_of(list)
  if not json.is_array(list) then return nil end
  local tools = json.array()
  for i, f in ipairs(list) do
    if not steps.is_object(f) or type(f.name) ~= "string" then return nil end
    tools[i] = { type = "function", ["function"] = f }
  end
  return #tools > 0 and build.encode(tools) or nil
end

-- The last messages, which hold all before them; the others are earlier states of them.
local function read_messages(state, lists, line_of)
  local source, last = state.source, lists[#lists]
  for i = 1, #lists - 1 do
    source.counts.records = source.counts.records + 1
    source:aside(state.aside, "earlier messages", line_of(lists[i]), lists[i])
  end
  local inner = steps.lines_in(source, last, line_of(last))
  local function each(value, _, line)
    return read_message(state, value, line)
  end
  steps.each(source, json.raw(last), "train_messages", RAW, inner, each)
end

local function keep_aside(state, document, line_of)
  for _, what in ipairs({ "tree", "compare_candidates" }) do
    local raw = steps.raw(document[what])
    if raw and raw.raw ~= "[]" then
      state.source.counts.records = state.source.counts.records + 1
      state.source:aside(state.aside, what, line_of(raw.raw), raw.raw)
    end
  end
end

function M.read(source)
  local keys = { tree = true, compare_candidates = true, train_messages = true }
  local document = steps.document(source, keys)
  local answer = document.answer_generation
  if not steps.is_object(answer) then answer = {} end
  local state = { source = source, drafts = {}, aside = json.array() }
  state.serial = steps.serial()
  local raw = steps.raw(answer.train_messages)
  local lists = raw and json.items(raw.raw) or {}
  local tree = steps.raw(document.tree) and json.decode(document.tree)
  local root = steps.is_object(tree) and steps.is_object(tree.tree) and tree.tree
  local leaf, leaves = nil, 1
  if root then
    leaf, leaves = best_leaf(root)
  end
  if #lists > 0 then
    read_messages(state, lists, source:lines())
  else
    source:note("chains read from the tree")
    read_chain(state, leaf, answer.query, 1)
  end
  if leaves > 1 then source:note("other branches kept aside", leaves - 1) end
  keep_aside(state, document, source:lines())
  local session = build.session(source, M.name)
  session.tools = tools_of(answer["function"])
  for _, draft in ipairs(state.drafts) do
    session:add(draft.message, nil, draft.line)
  end
  local rest = steps.rest(source, document, { tree = true, compare_candidates = true })
  if rest and rest.answer_generation then
    local known = { train_messages = true, ["function"] = true }
    rest.answer_generation = build.rest(answer, known)
  end
  steps.header(source, session, rest, state.aside)
  return { session:finish() }
end

return M

"""The dissector's program in Lua, second half: connections, requests and responses in them, and what Wireshark calls."""

from __future__ import annotations

CONVERSATIONS = r"""
-- Conversations ----------------------------------------------------------------------------------------------------

local stream_of = Field.new("tcp.stream")
local conversations = {}

function proto.init() conversations = {} end

local function conversation()
  local stream = stream_of()
  local key = stream and stream.value or -1
  conversations[key] = conversations[key] or { requests = {} }
  return conversations[key]
end

local function header_version(rows, version)
  local found = rows[1][2]
  for _, row in ipairs(rows) do if version >= row[1] then found = row[2] end end
  return found
end

local function may_be_request(tvb)
  if tvb:captured_len() < 14 then return false end
  local size, key, version, id = tvb:range(0, 4):int(), tvb:range(4, 2):int(), tvb:range(6, 2):int(), tvb:range(12, 2):int()
  local api = APIS[key]
  return api ~= nil and size >= 10 and size <= 104857600 and version >= 0 and version <= api.highest + 8
    and id >= -1 and id <= math.min(1024, size - 10)
end

proto.prefs.ports = Pref.range("TCP ports of brokers", PORTS, "Connections of other ports are found by what they say", 65535)

local function has_port(port)
  for part in tostring(proto.prefs.ports):gmatch("[^,%s]+") do
    local low, high = part:match("^(%d+)%-?(%d*)$")
    if low and port >= tonumber(low) and port <= tonumber(high ~= "" and high or low) then return true end
  end
  return false
end

local function is_request(tvb, pinfo, talk)
  if not talk.server then
    if may_be_request(tvb) then talk.server = pinfo.dst_port
    elseif has_port(pinfo.dst_port) then talk.server = pinfo.dst_port
    else talk.server = pinfo.src_port end
  end
  return pinfo.dst_port == talk.server
end

-- What this response answers: the newest request with its correlation id that came before it.
local function request_of(talk, id, number)
  local best
  for _, each in ipairs(talk.requests[id] or {}) do
    if each.number <= number then best = each end
  end
  return best
end

local function remember(talk, id, number, key, version)
  local known = talk.requests[id] or {}
  talk.requests[id] = known
  for _, each in ipairs(known) do if each.number == number and each.key == key then return end end
  known[#known + 1] = { number = number, key = key, version = version }
end

local function said(pinfo, text)
  pinfo.cols.protocol = TITLE
  if pinfo.cols.info.append then pinfo.cols.info:append(" " .. text) end
  pcall(function() pinfo.cols.info:fence() end)
end

local function show_request(tvb, pinfo, tree, talk)
  local stop = tvb:len()
  if not may_be_request(tvb) then
    tree:add(f_undecoded, tvb:range(4)):prepend_text("not a known request: ")
    return said(pinfo, "[unknown]")
  end
  local key, version, id = tvb:range(4, 2):int(), tvb:range(6, 2):int(), tvb:range(8, 4):int()
  local api = APIS[key]
  remember(talk, id, pinfo.number, key, version)
  tree:add(f_api, tvb:range(4, 2), api.name):set_generated()
  tree:add(f_version, tvb:range(6, 2)):set_generated()
  tree:append_text(", " .. api.name .. " v" .. version .. " request")
  said(pinfo, api.name .. " v" .. version .. " request")
  local header = tree:add(proto, tvb:range(4, 0), "header")
  local at = read_message(tvb, 4, stop, header, "RequestHeader", header_version(api.request_headers, version))
  header:set_len(at - 4)
  if not PLANS[api.request] then fail("the API " .. api.name .. " was removed") end
  local body = tree:add(proto, nothing(tvb, at), "body")
  local last = read_message(tvb, at, stop, body, api.request, version)
  body:set_len(last - at)
  if last < stop then tree:add(f_trailing, tvb:range(last, stop - last)) end
end

local function show_response(tvb, pinfo, tree, talk)
  local stop = tvb:len()
  local id = stop >= 8 and tvb:range(4, 4):int() or nil
  local asked = id and request_of(talk, id, pinfo.number)
  if not asked then
    if stop > 4 then tree:add(f_undecoded, tvb:range(4)):prepend_text("the request is not known: ") end
    return said(pinfo, "[response]")
  end
  local api, version = APIS[asked.key], asked.version
  tree:add(f_api, tvb:range(4, 4), api.name):set_generated()
  tree:add(f_request_in, tvb:range(4, 4), asked.number):set_generated()
  tree:append_text(", " .. api.name .. " v" .. version .. " response")
  said(pinfo, api.name .. " v" .. version .. " response")
  if not api.response then fail("the API " .. api.name .. " has no response") end
  local header = tree:add(proto, tvb:range(4, 0), "header")
  local at = read_message(tvb, 4, stop, header, "ResponseHeader", header_version(api.response_headers, version))
  header:set_len(at - 4)
  -- A broker that does not have the version answers in version 0 (KIP-511).
  if api.name == "ApiVersions" and stop >= at + 2 and tvb:range(at, 2):int() == 35 then version = 0 end
  tree:add(f_version, tvb:range(4, 4), version):set_generated()
  local body = tree:add(proto, nothing(tvb, at), "body")
  local last = read_message(tvb, at, stop, body, api.response, version)
  body:set_len(last - at)
  if last < stop then tree:add(f_trailing, tvb:range(last, stop - last)) end
end

local function show_frame(tvb, pinfo, tree)
  local talk = conversation()
  local asks = is_request(tvb, pinfo, talk)
  local shown = tree:add(proto, tvb:range())
  shown:add(f_size, tvb:range(0, 4))
  shown:add(f_is_request, tvb:range(0, 4), asks):set_generated()
  local fine, problem = pcall(asks and show_request or show_response, tvb, pinfo, shown, talk)
  if not fine then
    local reason = type(problem) == "table" and problem.reason or tostring(problem)
    shown:add_proto_expert_info(e_problem, reason)
    said(pinfo, "[" .. reason .. "]")
  end
  return tvb:len()
end

local function frame_length(tvb, pinfo, offset)
  local size = tvb:range(offset, 4):int()
  if size < 0 or size > 1073741824 then return tvb:len() - offset end
  return size + 4
end

function proto.dissector(tvb, pinfo, tree)
  if tvb:captured_len() == 0 then return 0 end
  pinfo.cols.info:clear()
  dissect_tcp_pdus(tvb, tree, 4, frame_length, show_frame)
  return tvb:len()
end

proto:register_heuristic("tcp", function(tvb, pinfo, tree)
  if not may_be_request(tvb) then return false end
  local talk = conversation()
  if talk.server == nil then talk.server = pinfo.dst_port end
  pinfo.conversation = proto
  proto.dissector(tvb, pinfo, tree)
  return true
end)

local tcp_ports = DissectorTable.get("tcp.port")
local taken = ""
function proto.prefs_changed()
  if taken ~= "" then tcp_ports:remove(taken, proto) end
  taken = tostring(proto.prefs.ports)
  if taken ~= "" then tcp_ports:add(taken, proto) end
end
taken = PORTS
if taken ~= "" then tcp_ports:add(taken, proto) end
"""

local proto = Proto(NAME, TITLE)
local fields = {}      -- by field name and type letter
local registered = {}

local function register(field)
  registered[#registered + 1] = field
  return field
end

local function abbreviation(name)
  return NAME .. "." .. name
end

local f_size = register(ProtoField.int32(abbreviation("frame_size"), "size"))
local f_element = register(ProtoField.uint32(abbreviation("element"), "element"))
local f_struct = register(ProtoField.string(abbreviation("struct"), "struct"))
local f_null = register(ProtoField.string(abbreviation("null"), "null"))
local f_error = register(ProtoField.int16(abbreviation("error"), "error", base.DEC, ERRORS))
local f_redacted = register(ProtoField.string(abbreviation("redacted"), "redacted"))
local f_tag = register(ProtoField.bytes(abbreviation("unknown_tagged_field"), "unknown tagged field"))
local f_undecoded = register(ProtoField.bytes(abbreviation("undecoded"), "undecoded"))
local f_trailing = register(ProtoField.bytes(abbreviation("trailing"), "trailing"))
local f_request_in = register(ProtoField.framenum(abbreviation("request_in"), "request in", base.NONE, frametype.REQUEST))
local f_api = register(ProtoField.string(abbreviation("api"), "API"))
local f_version = register(ProtoField.int16(abbreviation("api_version"), "API version"))
local f_client_unknown = register(ProtoField.bool(abbreviation("client_unknown"), "client unknown"))
local f_is_request = register(ProtoField.bool(abbreviation("is_request"), "is a request"))
local e_problem = ProtoExpert.new(abbreviation("problem"), "cannot be decoded", expert.group.MALFORMED, expert.severity.ERROR)
proto.experts = { e_problem }

-- Fields of messages -------------------------------------------------------------------------------------------------

local makers = {
  t = ProtoField.bool, b = ProtoField.int8, h = ProtoField.int16, H = ProtoField.uint16, i = ProtoField.int32,
  I = ProtoField.uint32, q = ProtoField.int64, d = ProtoField.double, u = ProtoField.string, s = ProtoField.string,
  y = ProtoField.bytes, r = ProtoField.bytes, ["["] = ProtoField.uint32, ["@"] = ProtoField.string,
}
local widths = { t = 1, b = 1, h = 2, H = 2, i = 4, I = 4, q = 8, d = 8, u = 16 }
local used = { [abbreviation("error")] = true, [abbreviation("redacted")] = true }

local function field_of(name, letter)
  local key = name .. "/" .. letter
  local field = fields[key]
  if not field then
    local short = abbreviation(name)
    if used[short] then short = short .. "_" .. (({ ["["] = "count", ["@"] = "struct" })[letter] or letter) end
    used[short] = true
    if letter == "h" and ERROR_FIELDS[name] then
      field = ProtoField.int16(short, name, base.DEC, ERRORS)
    elseif letter == "h" and name == "request_api_key" then
      field = ProtoField.int16(short, name, base.DEC, API_NAMES)
    else
      field = makers[letter](short, name)
    end
    fields[key] = register(field)
  end
  return field
end

-- Wireshark resolves fields only at startup, so all of them are looked up here.
for _, text in pairs(PLANS) do
  for line in text:gmatch("[^\n]+") do
    if line:sub(1, 1) == ":" then
      for name, rest in line:gmatch(" ([%w_]+)/~?(%S+)") do
        local array = rest:match("^[%[{]")
        local letter = rest:match("^[%[{]?(.)")
        if array then field_of(name, "[") end
        field_of(name, letter)
      end
    end
  end
end
for _, each in ipairs({ "base_offset/q", "batch_length/i", "partition_leader_epoch/i", "magic/b", "crc/I", "attributes/h",
    "last_offset_delta/i", "base_timestamp/q", "max_timestamp/q", "producer_id/q", "producer_epoch/h", "base_sequence/i",
    "record_count/i", "records_data/y" }) do
  field_of(each:match("(.+)/"), each:match("/(.)"))
end
proto.fields = registered

-- Plans --------------------------------------------------------------------------------------------------------------

local parsed = {}      -- by message name: layouts by number, and the layout number of each version

local function operation(word, struct)
  local place, rest = word:match("^(%d+)(.*)$")
  local field = struct[tonumber(place) + 1]
  local op = { name = field.name, letter = field.letter, is_array = field.is_array }
  local layout = rest:match("^@(%d+)")
  local packed, bits = rest:match("^([zv])(%d+)")
  local other = rest:match("^:(%a)")
  if layout then
    op.layout = tonumber(layout)
    rest = rest:sub(#layout + 2)
  elseif packed then
    op.packed, op.bits = packed, tonumber(bits)
    rest = rest:sub(#bits + 2)
  elseif other then
    op.wire = other
    rest = rest:sub(3)
  end
  op.is_compact = rest:find("c", 1, true) ~= nil
  op.is_nullable = rest:find("n", 1, true) ~= nil
  return op
end

local function parse(text)
  local layouts, struct, versions, number = {}, {}, {}, 0 -- the last struct is the message
  for line in text:gmatch("[^\n]+") do
    if line:sub(1, 1) == ":" then
      struct, versions = { name = line:match("^:(%S+)") }, {}
      for name, rest in line:gmatch(" ([%w_]+)/~?(%S+)") do
        local array, letter = rest:match("^([%[{]?)(.)")
        struct[#struct + 1] = { name = name, letter = letter, is_array = array ~= "" }
      end
    else
      local layout = { ops = {}, struct = struct.name }
      local first = true
      for word in line:gmatch("%S+") do
        if first then
          for range in word:gmatch("[^,]+") do
            local low, high = range:match("^(%d+)%-?(%d*)$")
            for version = tonumber(low), tonumber(high ~= "" and high or low) do versions[version] = number end
          end
          first = false
        elseif word == ";" or word == ";;" then
          layout.tags, layout.is_interleaved = {}, word == ";;"
        elseif word == "&" then
          layout.tags, layout.is_buffer = {}, true
        elseif word:sub(1, 1) == "-" or word:sub(1, 1) == "^" then
          first = false -- absent on the wire
        elseif layout.tags then
          local tag, payload = word:match("^(%d+)=(.+)$")
          local op = operation(payload, struct)
          op.is_tagged = true
          layout.tags[tonumber(tag)] = op
        else
          layout.ops[#layout.ops + 1] = operation(word, struct)
        end
      end
      layouts[number] = layout
      number = number + 1
    end
  end
  return { layouts = layouts, versions = versions }
end

local function plan_of(message)
  if not parsed[message] then parsed[message] = parse(PLANS[message]:match("^[^\n]*\n(.*)$")) end
  return parsed[message]
end

-- Reading ------------------------------------------------------------------------------------------------------------

-- Reader state: tvb, pos, stop. Errors are tables with the reason, so that Lua adds no position.
local function fail(reason) error({ reason = reason }, 0) end

local function take(r, size)
  if size < 0 or r.pos + size > r.stop then
    fail(size .. " bytes needed at offset " .. r.pos .. ", " .. (r.stop - r.pos) .. " left")
  end
  local range = r.tvb:range(r.pos, size)
  r.pos = r.pos + size
  return range
end

-- Empty range at an offset; the last byte at the end of the data, where Wireshark shows no empty range.
local function nothing(tvb, at)
  if at < tvb:len() then return tvb:range(at, 0) end
  return tvb:range(at - 1, 1)
end

local function byte(r) return take(r, 1):uint() end

local function uvarint(r)
  local value, factor = 0, 1
  for _ = 1, 5 do
    local each = byte(r)
    value = value + (each % 128) * factor
    if each < 128 then return value end
    factor = factor * 128
  end
  fail("the varint before offset " .. r.pos .. " is too long")
end

-- A varint of up to 64 bits, as two 32-bit halves.
local function halves(r)
  local low, high, factor = 0, 0, 1
  for index = 0, 9 do
    local each = byte(r)
    local bits = each % 128
    if index < 4 then low = low + bits * factor
    elseif index == 4 then
      low = low + (bits % 16) * factor
      high = math.floor(bits / 16)
      factor = 1 / 16
    else high = (high + bits * factor) % 4294967296 end
    if each < 128 then return low, high end
    factor = factor * 128
  end
  fail("the varint before offset " .. r.pos .. " is too long")
end

local function floor(number) return math.tointeger and math.tointeger(number) or number end

local function packed_number(r, op)
  local low, high = halves(r)
  if op.packed == "z" then
    local odd = low % 2 == 1
    low, high = math.floor(low / 2) + (high % 2) * 2147483648, math.floor(high / 2)
    if odd then low, high = 4294967295 - low, 4294967295 - high end
  elseif op.bits < 64 then
    local most = 2 ^ op.bits
    if low % most >= most / 2 then low, high = 4294967296 - most + low % most, 4294967295 end
  end
  if op.letter == "q" then return Int64.new(floor(low), floor(high)) end
  return floor(high >= 2147483648 and low - 4294967296 or low)
end

-- The length of a string, bytes or array; nil for null.
local function length(r, op, width)
  local size
  if op.is_compact then size = uvarint(r) - 1
  elseif width == 2 then size = take(r, 2):int()
  else size = take(r, 4):int() end
  if size >= 0 then return size end
  if not op.is_nullable or size < -1 then
    fail("length " .. size .. " before offset " .. r.pos .. ", but null is not allowed")
  end
  return nil
end

local ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

local function uuid_text(range)
  local text, bits, count = {}, 0, 0
  for index = 0, 15 do
    bits = bits * 256 + range:range(index, 1):uint()
    count = count + 8
    while count >= 6 do
      count = count - 6
      local place = math.floor(bits / 2 ^ count)
      bits = bits % 2 ^ count
      place = floor(place)
      text[#text + 1] = ALPHABET:sub(place + 1, place + 1)
    end
  end
  local place = floor(bits * 16)
  text[#text + 1] = ALPHABET:sub(place + 1, place + 1)
  return table.concat(text)
end

local ZERO_UUID = ("A"):rep(22)

local read_struct

local function add_null(r, tree, op, start)
  tree:add(f_null, r.tvb:range(start, r.pos - start), op.name):set_text(op.name .. ": null")
end

-- Secrets ------------------------------------------------------------------------------------------------------------

proto.prefs.show_secrets = Pref.bool("Show secrets", false, "Show passwords, keys, tokens and the metadata log")

local METADATA = { ["__cluster_metadata"] = true, ["AAAAAAAAAAAAAAAAAAAAAQ"] = true } -- the topic, and its id
local BROKER_LOGGER = 8

-- As is_secret_setting of the package: names of listeners and SASL mechanisms before the name of a config are ignored.
local function is_secret_setting(name, resource_type)
  if resource_type == BROKER_LOGGER then return false end
  if not name then return true end
  name = name:lower()
  if OPEN_SETTINGS[name] then return false end
  name = name:match("^listener%.name%.[^.]*%.(.*)$")
  if not name or OPEN_SETTINGS[name] then return not name end
  name = name:match("^[^.]*%.(.*)$") or ""
  return not (OPEN_SETTINGS[name] and (name:match("^sasl%.") or name == "connections.max.reauth.ms"))
end

-- A rule is true, or names the field with the name of a config (`name`) or of a topic of the metadata log (`topics`).
local function is_secret(r, rule)
  if not rule or rule == true then return rule or false end
  if rule.topics then
    for _, each in ipairs(rule.topics) do if METADATA[r.values[each]] then return true end end
    return false
  end
  if rule.holders and not rule.holders[r.holder] then return false end
  return is_secret_setting(r.values[rule.name], r.values[rule.resource])
end

local function is_hidden(r, op) return r.rules ~= nil and is_secret(r, r.rules[op.name]) end

-- Shows a name instead of bytes. The item has no bytes: exports contain the bytes of items.
local function add_redacted(tvb, tree, at, name, why)
  tree:add(f_redacted, nothing(tvb, at), name):set_text((why or name) .. ": (redacted)")
end

-- Bytes that cannot be decoded may be a token, or a message with secrets.
local function add_undecoded(tvb, tree, why)
  if proto.prefs.show_secrets then tree:add(f_undecoded, tvb:range(4)):prepend_text(why .. ": ")
  else add_redacted(tvb, tree, 4, "undecoded", why .. ": " .. tvb:len() - 4 .. " bytes") end
end

local function add_trailing(tvb, tree, message, at)
  if at == tvb:len() then return end
  if SECRETS[message] and not proto.prefs.show_secrets then add_redacted(tvb, tree, at, "trailing")
  else tree:add(f_trailing, tvb:range(at)) end
end

-- A damaged message of the metadata log is recognized by the name or the id of the topic.
local function may_hold_secrets(tvb, start, stop, message)
  local rules = SECRETS[message]
  if not rules or rules.unknown == true or start >= stop then return rules ~= nil end
  local data = tvb:raw(start, stop - start)
  return (data:find("__cluster_metadata", 1, true) or data:find(("\0"):rep(15) .. "\1", 1, true)) ~= nil
end

-- A tree whose items are not shown.
local NOWHERE = setmetatable({}, { __index = function() return function(self) return self end end })

-- Record batches -----------------------------------------------------------------------------------------------------

local BATCH = { { "base_offset", "q" }, { "batch_length", "i" }, { "partition_leader_epoch", "i" }, { "magic", "b" },
  { "crc", "I" }, { "attributes", "h" }, { "last_offset_delta", "i" }, { "base_timestamp", "q" }, { "max_timestamp", "q" },
  { "producer_id", "q" }, { "producer_epoch", "h" }, { "base_sequence", "i" }, { "record_count", "i" } }

-- Headers of complete record batches (magic 2); the records stay bytes.
local function add_batches(tvb, tree, start, size)
  local at, stop = start, start + size
  while at + 61 <= stop and tvb:range(at + 16, 1):uint() == 2 do
    local whole = tvb:range(at + 8, 4):int() + 12
    if whole < 61 then return end
    local shown = tree:add(proto, tvb:range(at, math.min(whole, stop - at)), "record batch")
    local place = at
    for _, each in ipairs(BATCH) do
      shown:add(field_of(each[1], each[2]), tvb:range(place, widths[each[2]]))
      place = place + widths[each[2]]
    end
    if at + whole > stop then return end -- the last batch of a response may be truncated
    if whole > 61 then shown:add(field_of("records_data", "y"), tvb:range(place, whole - 61)) end
    at = at + whole
  end
end

local function note(r, op, value)
  if r.noted and r.noted[op.name] ~= nil then r.noted[op.name] = value end
  if r.values then r.values[op.name] = value end
end

local function add_error(item, range, code)
  if code ~= 0 then item:add(f_error, range, code):set_generated() end
end

local function read_scalar(r, tree, op, is_element)
  local start, letter = r.pos, op.letter
  if op.packed then
    local number = packed_number(r, op)
    local range = r.tvb:range(start, r.pos - start)
    local item = tree:add(field_of(op.name, letter), range, number)
    if letter == "h" and ERROR_FIELDS[op.name] then add_error(item, range, number) end
  elseif letter == "s" then
    local size = length(r, { is_compact = op.is_compact, is_nullable = op.is_nullable and not is_element }, 2)
    if not size then
      if r.values then r.values[op.name] = nil end
      return add_null(r, tree, op, start)
    end
    if size == 0 then
      tree:add(field_of(op.name, "s"), r.tvb:range(start, r.pos - start), "")
      note(r, op, "")
    else
      local range = take(r, size)
      if is_hidden(r, op) then return add_redacted(r.tvb, tree, start, op.name) end
      tree:add_packet_field(field_of(op.name, "s"), range, ENC_UTF_8)
      note(r, op, range:string(ENC_UTF_8))
    end
  elseif letter == "y" or letter == "r" then
    local size = length(r, { is_compact = op.is_compact, is_nullable = op.is_nullable and not is_element }, 4)
    if not size then return add_null(r, tree, op, start) end
    if size == 0 then
      tree:add(field_of(op.name, letter), nothing(r.tvb, r.pos)):set_text(op.name .. ": (no bytes)")
    else
      local range = take(r, size)
      if is_hidden(r, op) then return add_redacted(r.tvb, tree, start, op.name) end
      local shown = tree:add(field_of(op.name, letter), range)
      if letter == "r" then add_batches(r.tvb, shown, r.pos - size, size) end
    end
  elseif letter == "u" then
    local range = take(r, 16)
    tree:add(field_of(op.name, "u"), range, uuid_text(range))
    if uuid_text(range) ~= ZERO_UUID or r.values then note(r, op, uuid_text(range)) end
  else
    local wire = op.wire or letter
    local range = take(r, widths[wire])
    local item
    if wire == letter then item = tree:add(field_of(op.name, letter), range)
    else item = tree:add(field_of(op.name, letter), range, wire == "q" and range:int64() or range:int()) end
    if letter == "h" and ERROR_FIELDS[op.name] then add_error(item, range, range:int()) end
    if letter == "b" and r.values then r.values[op.name] = range:int() end
  end
end

local function read_array(r, tree, op, plan)
  local start = r.pos
  local count = length(r, op, 4)
  if not count then return add_null(r, tree, op, start) end
  if count > r.stop - r.pos and count > 65535 then
    fail(count .. " elements at offset " .. r.pos .. ", " .. (r.stop - r.pos) .. " bytes left")
  end
  local shown = tree:add(field_of(op.name, "["), r.tvb:range(start, r.pos - start), count)
  for index = 0, count - 1 do
    local begin = r.pos
    if op.layout then
      local element = shown:add(f_element, nothing(r.tvb, begin), index)
      element:set_text(op.name .. "[" .. index .. "]")
      read_struct(r, element, plan.layouts[op.layout], plan, op.name)
      element:set_len(r.pos - begin)
    else
      read_scalar(r, shown, op, true)
    end
  end
  shown:set_len(r.pos - start)
end

local function read_single(r, tree, op, plan)
  local start = r.pos
  if op.is_nullable then
    local present = op.is_tagged and uvarint(r) or take(r, 1):int()
    if present < (op.is_tagged and 1 or 0) then return add_null(r, tree, op, start) end
  end
  local shown = tree:add(field_of(op.name, "@"), r.tvb:range(start, r.pos - start), "")
  shown:set_text(op.name)
  read_struct(r, shown, plan.layouts[op.layout], plan, op.name)
  shown:set_len(r.pos - start)
end

local function read_op(r, tree, op, plan)
  if op.is_array then read_array(r, tree, op, plan)
  elseif op.layout then read_single(r, tree, op, plan)
  else read_scalar(r, tree, op, false) end
end

-- One field of a tag section or optional-field buffer, after its size.
local function read_tagged(r, tree, layout, plan, tag, size)
  local stop = r.stop
  if r.pos + size > stop then
    fail("the field with tag " .. tag .. " at offset " .. r.pos .. " has " .. size .. " bytes, " .. (stop - r.pos) .. " left")
  end
  local op = layout.tags[tag]
  if op then
    r.stop = r.pos + size
    read_op(r, tree, op, plan)
    if r.pos ~= r.stop then fail("the field with tag " .. tag .. " ends at offset " .. r.pos .. ", not " .. r.stop) end
    r.stop = stop
  elseif size > 0 and r.secrets and is_secret(r, r.secrets.unknown) then
    add_redacted(r.tvb, tree, r.pos, "unknown_tagged_field", "unknown tagged field: tag " .. tag)
    take(r, size)
  elseif size > 0 then
    tree:add(f_tag, take(r, size)):prepend_text("tag " .. tag .. ": ")
  else
    tree:add(f_tag, nothing(r.tvb, r.pos)):set_text("unknown tagged field: tag " .. tag .. ": (no bytes)")
  end
end

local function split_header(low, high)
  local tag, size, unit = 0, 0, 1
  for _, half in ipairs({ low, high }) do
    for _ = 1, 16 do
      size = size + (half % 2) * unit
      half = math.floor(half / 2)
      tag = tag + (half % 2) * unit
      half = math.floor(half / 2)
      unit = unit * 2
    end
  end
  return floor(tag), floor(size)
end

-- `holder` is the name of the field that holds the struct; nil for a message.
read_struct = function(r, tree, layout, plan, holder)
  local outer_rules, outer_holder = r.rules, r.holder
  r.rules, r.holder = r.secrets and r.secrets[layout.struct], holder
  if layout.is_buffer then
    while true do
      local size = packed_number(r, { packed = "z", bits = 32, letter = "i" })
      if size == 0 then break end
      if size < 0 then fail("length " .. size .. " of an optional field before offset " .. r.pos) end
      read_tagged(r, tree, layout, plan, take(r, 2):int(), size)
    end
  end
  for _, op in ipairs(layout.ops) do read_op(r, tree, op, plan) end
  if layout.tags and not layout.is_buffer then
    for _ = 1, uvarint(r) do
      local tag, size
      if layout.is_interleaved then tag, size = split_header(halves(r))
      else tag, size = uvarint(r), uvarint(r) end
      read_tagged(r, tree, layout, plan, tag, size)
    end
  end
  r.rules, r.holder = outer_rules, outer_holder
end

-- Dissects a message; returns the offset after it. Values of the fields in `noted` are written into it.
local function read_message(tvb, start, stop, tree, message, version, noted)
  local plan = plan_of(message)
  local number = plan.versions[version]
  if not number then fail(message .. " has no version " .. version) end
  local function read(into, notes)
    local r = { tvb = tvb, pos = start, stop = stop, noted = notes }
    if not proto.prefs.show_secrets and SECRETS[message] then r.secrets, r.values = SECRETS[message], {} end
    local fine, problem = pcall(read_struct, r, into, plan.layouts[number], plan)
    return r.pos, not fine and (type(problem) == "table" and problem.reason or tostring(problem))
  end
  -- In a damaged message, another field may have the bytes of a secret.
  local hides = not proto.prefs.show_secrets and may_hold_secrets(tvb, start, stop, message)
  if hides and select(2, read(NOWHERE)) then
    add_redacted(tvb, tree, start, message)
    tree = NOWHERE
  end
  local last, problem = read(tree, noted)
  if problem then fail(problem) end
  return last
end

-- Conversations ----------------------------------------------------------------------------------------------------

local stream_of = Field.new("tcp.stream")
local completeness_of = Field.new("tcp.completeness") -- bits: 1 and 2 if SYN and SYN-ACK were captured
local seq_of, length_of = Field.new("tcp.seq"), Field.new("tcp.len")
local conversations = {}

function proto.init() conversations = {} end

local function conversation()
  local stream = stream_of()
  local key = stream and stream.value or -1
  conversations[key] = conversations[key] or { requests = {}, identity = {} }
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

proto.prefs.ports = Pref.range("TCP ports of brokers", PORTS, "Connections of other ports are detected by content", 65535)

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

-- Finds the request of a response: the latest earlier request with the same correlation id.
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

-- Fields of a message with the identity of the client, to be filled while the message is read.
local function to_note(message)
  local noted = {}
  for _, each in ipairs(IDENTITY) do if each.message == message then noted[each.name] = false end end
  return noted
end

-- Remembers what a request reports about its client; shows what only an earlier one reported. Returns true if either.
local function show_identity(tvb, pinfo, tree, talk, message, noted)
  local is_known = false
  for _, each in ipairs(IDENTITY) do
    if each.message == message then
      local known, last, value = talk.identity[each.name] or {}, nil, noted[each.name]
      talk.identity[each.name] = known
      for _, one in ipairs(known) do if one.number <= pinfo.number then last = one.value end end
      if value then
        if last ~= value then known[#known + 1] = { number = pinfo.number, value = value } end
      elseif last then
        tree:add(field_of(each.name, each.letter), tvb:range(4, 0), last):set_generated()
      end
      is_known = is_known or (value or last or false) ~= false
    end
  end
  return is_known
end

-- Finds the first request of a connection before which bytes may be missing: requests must follow each other from the
-- first byte after a SYN. Their offsets are known at the start or end of a segment.
local function check_start(pinfo, talk, size)
  if pinfo.visited or talk.incomplete_from then return end
  local completeness, seq, length = completeness_of(), seq_of(), length_of()
  local start = talk.next_seq or 1
  talk.next_seq = start + size
  local has_syn = completeness and completeness.value % 4 > 0
  local follows = pinfo.number == talk.last_packet or start == seq.value or talk.next_seq == seq.value + length.value
  talk.last_packet = pinfo.number
  if not (has_syn and follows) then talk.incomplete_from = pinfo.number end
end

local function is_complete(pinfo, talk) return pinfo.number < (talk.incomplete_from or math.huge) end

local function set_info(pinfo, text)
  pinfo.cols.protocol = TITLE
  if pinfo.cols.info.append then pinfo.cols.info:append(" " .. text) end
  pcall(function() pinfo.cols.info:fence() end)
end

local function show_request(tvb, pinfo, tree, talk)
  local stop = tvb:len()
  check_start(pinfo, talk, stop)
  if not may_be_request(tvb) then
    talk.incomplete_from = talk.incomplete_from or pinfo.number
    add_undecoded(tvb, tree, "not a known request")
    return set_info(pinfo, "[unknown]")
  end
  local key, version, id = tvb:range(4, 2):int(), tvb:range(6, 2):int(), tvb:range(8, 4):int()
  local api = APIS[key]
  remember(talk, id, pinfo.number, key, version)
  tree:add(f_api, tvb:range(4, 2), api.name):set_generated()
  tree:add(f_version, tvb:range(6, 2)):set_generated()
  tree:append_text(", " .. api.name .. " v" .. version .. " request")
  set_info(pinfo, api.name .. " v" .. version .. " request")
  local header = tree:add(proto, tvb:range(4, 0), "header")
  local noted, of_header = to_note("RequestHeader"), header_version(api.request_headers, version)
  local at = read_message(tvb, 4, stop, header, "RequestHeader", of_header, noted)
  header:set_len(at - 4)
  local is_known = show_identity(tvb, pinfo, tree, talk, "RequestHeader", noted) or is_complete(pinfo, talk)
  if not is_known and of_header >= OMITS_IDS_FROM then
    tree:add(f_client_unknown, tvb:range(4, 0), true):set_generated()
  end
  if not PLANS[api.request] then fail("the API " .. api.name .. " was removed") end
  noted = to_note(api.request)
  local body = tree:add(proto, nothing(tvb, at), "body")
  local last = read_message(tvb, at, stop, body, api.request, version, noted)
  show_identity(tvb, pinfo, tree, talk, "ApiVersionsRequest", noted)
  body:set_len(last - at)
  add_trailing(tvb, tree, api.request, last)
end

local function show_response(tvb, pinfo, tree, talk)
  local stop = tvb:len()
  local id = stop >= 8 and tvb:range(4, 4):int() or nil
  local asked = id and request_of(talk, id, pinfo.number)
  if not asked then
    if stop > 4 then add_undecoded(tvb, tree, "the request is not known") end
    return set_info(pinfo, "[response]")
  end
  local api, version = APIS[asked.key], asked.version
  tree:add(f_api, tvb:range(4, 4), api.name):set_generated()
  tree:add(f_request_in, tvb:range(4, 4), asked.number):set_generated()
  tree:append_text(", " .. api.name .. " v" .. version .. " response")
  set_info(pinfo, api.name .. " v" .. version .. " response")
  if not api.response then fail("the API " .. api.name .. " has no response") end
  local header = tree:add(proto, tvb:range(4, 0), "header")
  local at = read_message(tvb, 4, stop, header, "ResponseHeader", header_version(api.response_headers, version))
  header:set_len(at - 4)
  -- A broker without the requested version responds with version 0 (KIP-511).
  if api.name == "ApiVersions" and stop >= at + 2 and tvb:range(at, 2):int() == 35 then version = 0 end
  tree:add(f_version, tvb:range(4, 4), version):set_generated()
  local body = tree:add(proto, nothing(tvb, at), "body")
  local last = read_message(tvb, at, stop, body, api.response, version)
  body:set_len(last - at)
  add_trailing(tvb, tree, api.response, last)
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
    set_info(pinfo, "[" .. reason .. "]")
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

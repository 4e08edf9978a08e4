-- _6_repeats.lua: which URLs are likely to repeat what is known, as pages of the same shape, server or domain did.

local OF_MANY = 4 -- times as many repeats speak against a server or a domain as against a shape

local function class_of(segment)
  local name, ending = string.match(segment, '^(.+)(%.%a%w?%w?%w?)$')
  name = name or segment
  return (string.find(name, '%d') and '0' or 'a') .. (ending or '')
end

-- The shape of a path: its first two directories, of what is below them which names have digits, and the parameters' names;
-- and the wide one, which keeps no directory and no parameter.
local function shapes_of(path)
  local route, query = string.match(path, '^([^?]*)(.*)$')
  local top = string.match(route, '^/[^/]*/[^/]*/') or string.match(route, '^/[^/]*/') or '/'
  local names = {}
  for name in string.gmatch(query, '[?&;]([^=&;]*)') do names[#names + 1] = string.gsub(name, '%d+', '0') end
  table.sort(names)
  local below = string.gsub(string.sub(route, #top + 1), '[^/]+', class_of)
  local narrow = string.gsub(top, '%d+', '0') .. below .. (query ~= '' and '?' or '') .. table.concat(names, '&')
  return string.sub(narrow, 1, 100), '*' .. string.sub(string.gsub(route, '[^/]+', class_of), 1, 100) .. (query ~= '' and '?' or '')
end

-- Are URLs like this one to go behind? The first of shape, wide shape, server and domain says so that has given more fresh pages or, clearly, more repeats:
-- a server and a domain four times as many, as their other shapes may be honest.
local function is_repetitive(server, path, most)
  local narrow, wide = shapes_of(path)
  local known = call('HMGET', key('repeats'), server .. ' ' .. narrow, server .. ' ' .. wide, server)
  for i = 1, 3 do
    local number = tonumber(known[i] or 0)
    if number < 0 or number >= (i < 3 and most or OF_MANY * most) then return number > 0 end
  end
  local domain = call('HGET', site_of(server), 'domain')
  return domain and tonumber(call('HGET', key('repeats'), domain) or 0) >= OF_MANY * most
end

-- Counts a document as a repeat, or as fresh where its domain has given repeats. No count goes so far that as many pages again could not turn it.
local function count_repeat(server, path, domain, repeats, most)
  if not repeats and call('HEXISTS', key('repeats'), domain) == 0 then return end
  local function add(name)
    local number = tonumber(call('HGET', key('repeats'), name) or 0) + (repeats and 1 or -1)
    call('HSET', key('repeats'), name, math.max(-most, math.min(number, (OF_MANY + 1) * most)))
    return number
  end
  local narrow, wide = shapes_of(path)
  add(domain)
  add(server)
  -- Programs make up directories without end: one more is not kept for a repeat where the wide shape says enough.
  if add(server .. ' ' .. wide) < most or not repeats or call('HEXISTS', key('repeats'), server .. ' ' .. narrow) == 1 then
    add(server .. ' ' .. narrow)
  end
end

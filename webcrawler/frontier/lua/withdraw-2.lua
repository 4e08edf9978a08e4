-- withdraw-2.lua: takes back checks that wait; their URLs count again as what they were.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of groups {server, {path, …}}
-- Returns {URL that is leased and stays as it is, …}.
-- Cost    O(log queue) each.
local now, turns, leased = now_ms(), by_turn(), {}
for _, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local server, withdrawn = group[1], 0
  for _, path in ipairs(group[2]) do
    local was = call('HGET', key('again'), server .. ' ' .. path)
    if call('HEXISTS', key('leases'), server .. path) == 1 then
      leased[#leased + 1] = server .. path
    elseif was then
      withdrawn = withdrawn + refuse(server, {path}, was)
    end
  end
  if withdrawn > 0 then
    remove(server)
    wake(server, now, turns)
  end
end
write_tallies()
return leased

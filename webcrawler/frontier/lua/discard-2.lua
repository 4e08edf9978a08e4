-- discard-2.lua: counts decided URLs as another outcome, and takes back checks that wait.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] the new outcome ("done/discarded")   ARGV[2] msgpack of groups {server, {path, …}, {what it was decided as, …}}
-- Returns {URL that is leased and stays as it is, …}.
-- Cost    O(log queue) each.
local now, turns, leased = now_ms(), by_turn(), {}
for _, group in ipairs(cmsgpack.unpack(ARGV[2])) do
  local server, paths, before = unpack(group)
  local waited = 0
  for i, path in ipairs(paths) do
    if call('HEXISTS', key('leases'), server .. path) == 1 then
      leased[#leased + 1] = server .. path
    elseif refuse(server, {path}, ARGV[1]) == 1 then
      waited = waited + 1
    else
      tally(before[i], -1)
      tally(ARGV[1], 1)
    end
  end
  if waited > 0 then
    remove(server)
    wake(server, now, turns)
  end
end
write_tallies()
return leased

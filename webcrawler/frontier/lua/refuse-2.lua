-- refuse-2.lua: decides URLs that wait, without a fetch.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] what to count ("failed/REASON")   ARGV[2] msgpack of groups {server, {path, …}}
-- Returns how many waited; what is leased is left to its worker.      Cost O(log queue) each.
local now, turns, refused = now_ms(), by_turn(), 0
for _, group in ipairs(cmsgpack.unpack(ARGV[2])) do
  local server = group[1]
  refused = refused + refuse(server, group[2], ARGV[1])
  remove(server)
  wake(server, now, turns)
end
write_tallies()
return refused

-- release-2.lua: gives leases back unused; nothing counts against the URLs.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1…] two each: url, token
-- Returns how many went back into the queue.      Cost O(log queue) each.
local now, turns, released, urls, tokens = now_ms(), by_turn(), 0, {}, {}
for i = 1, #ARGV, 2 do urls[#urls + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1] end
for _, lease in ipairs(end_leases(urls, tokens, now, turns)) do
  if lease then
    requeue(lease, now, turns)
    released = released + 1
  end
end
write_tallies()
return released

-- complete-2.lua: decides leases as done and takes in their outlinks, all or none of each.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] number of leases, then each: url, token, reason, "1" if a document, refusals R, links L,
--         R times (reason, number), L times five as in discover-2
-- Returns one number a lease: new links, or -1 when the token is not the newest (nothing is taken in then).
-- Keeps   exactly once: a second call for the same lease changes nothing.      Cost as discover-2.
local now, turns = now_ms(), by_turn()
local answer, at = {}, 2
for i = 1, tonumber(ARGV[1]) do
  local lease = leave(ARGV[at], ARGV[at + 1])
  local refusals, links = tonumber(ARGV[at + 4]), tonumber(ARGV[at + 5])
  if not lease then
    answer[i] = -1
  else
    local server = lease[3]
    count('done/' .. ARGV[at + 2], 1)
    for r = at + 6, at + 5 + 2 * refusals, 2 do count('refused/' .. ARGV[r], ARGV[r + 1]) end
    answer[i] = take_in(at + 6 + 2 * refusals, links, now, turns)
    decide(lease)
    if ARGV[at + 3] == '1' then
      call('HDEL', key('newcomers'), server)
      call('SREM', key('trying'), server)
    else
      no_document(server)
    end
    wake(server, now, turns)
  end
  at = at + 6 + 2 * refusals + 5 * links
end
return answer

-- fetched-2.lua: downloads are over: frees their places and says when their servers are due again.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] delay, ms   ARGV[2] back-off, ms   ARGV[3] cap of a back-off, ms   ARGV[4] cap on a Crawl-delay, ms
-- ARGV[5…] six each: url, token, ms to wait at least (-1: nothing was downloaded, no pause is due), "1" for an answer that asks to slow down, jitter in 0.5 … 1.5, "1" for an answer in time
-- Returns nothing.
-- Keeps   next = now + max(delay, Crawl-delay, wait, back-off * 2^(slow answers in a row - 1) * jitter).
-- Cost    O(1) each.
local now, turns = now_ms(), by_turn()

local function due_after(politeness, wait_ms, slow_down, jitter)
  local known = call('HMGET', politeness, 'delay', 'backoff', 'next')
  local pause = math.max(tonumber(ARGV[1]), wait_ms, math.min(tonumber(known[1] or 0), tonumber(ARGV[4])))
  local slow = slow_down and math.min(tonumber(known[2] or 0) + 1, 20) or 0
  if slow > 0 then
    pause = math.max(pause, math.min(tonumber(ARGV[2]) * 2 ^ (slow - 1) * tonumber(jitter), tonumber(ARGV[3])))
  end
  return math.max(now + math.floor(pause), tonumber(known[3] or 0)), slow
end

for i = 5, #ARGV, 6 do
  local lease = unpacked(call('HGET', key('leases'), ARGV[i]))
  if lease and lease[1] == tonumber(ARGV[i + 1]) and call('SREM', key('downloading'), ARGV[i]) == 1 then
    local politeness = server_of(lease[3])
    call('HINCRBY', politeness, 'active', -1)
    if tonumber(ARGV[i + 2]) >= 0 then
      local due, slow = due_after(politeness, tonumber(ARGV[i + 2]), ARGV[i + 3] == '1', ARGV[i + 4])
      call('HSET', politeness, 'next', due, 'backoff', slow, 'pace', ARGV[i + 5])
    end
    wake(lease[3], now, turns)
  end
end

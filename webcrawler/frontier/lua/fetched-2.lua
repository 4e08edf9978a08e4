-- fetched-2.lua: downloads are over: frees their places and says when their servers are due again.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] delay, ms   ARGV[2] back-off, ms   ARGV[3] cap of a back-off, ms   ARGV[4] cap on a Crawl-delay, ms
-- ARGV[5…] five each: url, token, ms to wait at least (-1: nothing was downloaded, no pause is due), "1" for an answer that asks to slow down, jitter in 0.5 … 1.5
-- Returns nothing.
-- Keeps   next = now + max(delay, Crawl-delay, wait, back-off * 2^(slow answers in a row - 1) * jitter).
-- Cost    O(1) each.
local now, turns = now_ms(), by_turn()

local function due_after(politeness, wait_ms, slow_down, jitter)
  local crawl_delay = math.min(tonumber(call('HGET', politeness, 'delay') or 0), tonumber(ARGV[4]))
  local pause = math.max(tonumber(ARGV[1]), wait_ms, crawl_delay)
  if slow_down then
    local slow = math.min(call('HINCRBY', politeness, 'backoff', 1), 20)
    pause = math.max(pause, math.min(tonumber(ARGV[2]) * 2 ^ (slow - 1) * tonumber(jitter), tonumber(ARGV[3])))
  else
    call('HDEL', politeness, 'backoff')
  end
  return math.max(now + math.floor(pause), tonumber(call('HGET', politeness, 'next') or 0))
end

for i = 5, #ARGV, 5 do
  local packed = call('HGET', key('leases'), ARGV[i])
  local lease = packed and cmsgpack.unpack(packed)
  if lease and lease[1] == tonumber(ARGV[i + 1]) and lease[6] == 1 then
    lease[6] = 0
    call('HSET', key('leases'), ARGV[i], cmsgpack.pack(lease))
    local politeness = server_of(lease[3])
    call('HINCRBY', politeness, 'active', -1)
    if tonumber(ARGV[i + 2]) >= 0 then
      call('HSET', politeness, 'next', due_after(politeness, tonumber(ARGV[i + 2]), ARGV[i + 3] == '1', ARGV[i + 4]))
    end
    wake(lease[3], now, turns)
  end
end

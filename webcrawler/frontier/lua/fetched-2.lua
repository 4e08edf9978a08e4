-- fetched-2.lua: downloads are over: frees their places and says when their servers are due again.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _common.lua)
-- ARGV[1] delay, ms   ARGV[2] back-off, ms   ARGV[3] cap of a back-off, ms   ARGV[4] cap on a Crawl-delay, ms
-- ARGV[5…] five each: url, token, ms to wait at least, "1" for an answer that asks to slow down, jitter in 0.5 … 1.5
-- Returns nothing.
-- Keeps   next = now + max(delay, Crawl-delay, wait, back-off * 2^(slow answers in a row - 1) * jitter).
-- Cost    O(1) each.
local now, turns = now_ms(), by_turn()
for i = 5, #ARGV, 5 do
  local packed = call('HGET', key('leases'), ARGV[i])
  local lease = packed and cmsgpack.unpack(packed)
  if lease and lease[1] == tonumber(ARGV[i + 1]) and lease[6] == 1 then
    lease[6] = 0
    call('HSET', key('leases'), ARGV[i], cmsgpack.pack(lease))
    local politeness = server_of(lease[3])
    call('HINCRBY', politeness, 'active', -1)
    local pause = math.max(tonumber(ARGV[1]), tonumber(ARGV[i + 2]),
      math.min(tonumber(call('HGET', politeness, 'delay') or 0), tonumber(ARGV[4])))
    if ARGV[i + 3] == '1' then
      local slow = math.min(call('HINCRBY', politeness, 'backoff', 1), 20)
      local backoff = math.min(tonumber(ARGV[2]) * 2 ^ (slow - 1) * tonumber(ARGV[i + 4]), tonumber(ARGV[3]))
      pause = math.max(pause, backoff)
    else
      call('HDEL', politeness, 'backoff')
    end
    local due = math.max(now + math.floor(pause), tonumber(call('HGET', politeness, 'next') or 0))
    call('HSET', politeness, 'next', due)
    wake(lease[3], now, turns)
  end
end

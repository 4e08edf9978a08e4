-- fetched-2.lua: downloads are over: frees their places and says when their servers are due again.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] delay, ms   ARGV[2] back-off, ms   ARGV[3] cap of a back-off, ms   ARGV[4] cap on a Crawl-delay, ms
-- ARGV[5…] six each: url, token, ms to wait at least (-1: nothing was downloaded, no pause is due), "1" for an answer that asks to slow down, jitter in 0.5 … 1.5, "1" for an answer in time
-- Returns nothing.
-- Keeps   next = now + max(delay, Crawl-delay, wait, back-off * 2^(slow answers in a row - 1) * jitter).
-- Cost    O(1) each.
local now, turns, delay_ms, backoff_ms, backoff_max_ms = now_ms(), by_turn(), tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local crawl_delay_max_ms = tonumber(ARGV[4])

-- Records in a server's hash that a download is over; returns when the server is due, its pace, and who waits for the place.
local function over(politeness, wait_ms, slow_down, jitter, pace)
  local known = call('HMGET', politeness, 'active', 'next', 'pace', 'delay', 'backoff', 'waiting')
  local active, due = tonumber(known[1] or 1) - 1, tonumber(known[2] or 0)
  if wait_ms < 0 then
    call('HSET', politeness, 'active', active)
    return due, known[3], known[6]
  end
  local pause = math.max(delay_ms, wait_ms, math.min(tonumber(known[4] or 0), crawl_delay_max_ms))
  local slow = slow_down and math.min(tonumber(known[5] or 0) + 1, 20) or 0
  if slow > 0 then pause = math.max(pause, math.min(backoff_ms * 2 ^ (slow - 1) * jitter, backoff_max_ms)) end
  due = math.max(now + math.floor(pause), due)
  call('HSET', politeness, 'active', active, 'next', due, 'pace', pace)
  if slow > 0 or known[5] then call('HSET', politeness, 'backoff', slow) end
  return due, pace, known[6]
end

local urls, tokens = {}, {}
for i = 5, #ARGV, 6 do urls[#urls + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1] end
for n, lease in ipairs(urls[1] and newest(urls, tokens) or {}) do
  local i = 6 * n - 1
  if lease and call('SREM', key('downloading'), ARGV[i]) == 1 then
    local server = lease[3]
    local due, pace, waiting = over(server_of(server), tonumber(ARGV[i + 2]), ARGV[i + 3] == '1', tonumber(ARGV[i + 4]), ARGV[i + 5])
    due = call_waiting(server, waiting, due)
    local head = head_of(server)
    if head then
      remove(server)
      put_server(server, head, due, pace, now, turns)
    end
  end
end

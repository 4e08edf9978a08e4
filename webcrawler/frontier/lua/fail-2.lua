-- fail-2.lua: fetches failed: queued again after a back-off while tries are left, else decided.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] tries   ARGV[2] back-off before the first retry, ms; it doubles   ARGV[3] its cap, ms
-- ARGV[4…] four each: url, token, what to count in the end ("failed/REASON" or "quarantined"), "1" if worth a retry
-- Returns one number each: 1 queued again, 0 decided, -1 when the token is not the newest.
-- Cost    O(log queue) each.
local tries_max, backoff_ms, backoff_max_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, turns = now_ms(), by_turn()
local answer = {}
for i = 4, #ARGV, 4 do
  local lease = leave(ARGV[i], ARGV[i + 1])
  if not lease then
    answer[#answer + 1] = -1
  else
    local server, member = lease[3], lease[3] .. ' ' .. lease[4]
    local tries = tonumber(string.match(call('HGET', key('tries'), member) or '0 ', '^%d+')) + 1
    local again = ARGV[i + 3] == '1' and tries < tries_max
    if again then
      call('HSET', key('tries'), member, tries .. ' ' .. lease[5])
      call('ZADD', key('retry'), now + math.min(backoff_ms * 2 ^ (tries - 1), backoff_max_ms), member)
      count('queued', 1)
    else
      count(ARGV[i + 2], 1)
      decide(lease, now)
    end
    no_document(server, now, turns)
    answer[#answer + 1] = again and 1 or 0
  end
end
return answer

-- fail-2.lua: fetches failed: queued again after a back-off while tries are left, else decided.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] tries   ARGV[2] back-off before the first retry, ms; it doubles   ARGV[3] its cap, ms
-- ARGV[4…] four each: url, token, what to count in the end ("failed/REASON" or "quarantined"), "1" if worth a retry, "2" if that was no try
-- Returns one number each: 1 queued again, 0 decided, -1 when the token is not the newest.
-- Cost    O(log queue) each.
local tries_max, backoff_ms, backoff_max_ms = tonumber(ARGV[1]), tonumber(ARGV[2]), tonumber(ARGV[3])
local now, turns, urls, tokens, answer = now_ms(), by_turn(), {}, {}, {}
for i = 4, #ARGV, 4 do urls[#urls + 1], tokens[#tokens + 1] = ARGV[i], ARGV[i + 1] end

-- Returns 1 when it is queued again, 0 when it is decided.
local function finish(lease, outcome, retry)
  local member = lease[3] .. ' ' .. lease[4]
  local tries = tonumber(string.match(call('HGET', key('tries'), member) or '0 ', '^%d+')) + (retry == '2' and 0 or 1)
  local again = retry == '2' or retry == '1' and tries < tries_max
  if again then
    call('HSET', key('tries'), member, tries .. ' ' .. lease[5])
    -- After others of its server, which may be better, had their turn.
    local due = retry == '2' and math.max(now, tonumber(call('HGET', server_of(lease[3]), 'next') or 0)) or now
    call('ZADD', key('retry'), due + math.min(backoff_ms * 2 ^ math.max(tries - 1, 0), backoff_max_ms), member)
    tally('queued', 1)
  else
    tally(outcome, 1)
    if outcome == 'quarantined' then call('HSET', key('quarantined'), lease[3] .. lease[4], now .. ' ' .. tries .. ' parsers') end
    decide(lease)
  end
  no_document(lease[3], now, turns)
  return again and 1 or 0
end

for n, lease in ipairs(end_leases(urls, tokens, now, turns)) do
  answer[n] = lease and finish(lease, ARGV[4 * n + 2], ARGV[4 * n + 3]) or -1
end
write_tallies()
return answer

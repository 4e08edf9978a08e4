-- block-2.lua: blocks a server in all frontiers; decides what waits or is out, some at a time.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] server   ARGV[2] "1" to block it, "0" to unblock it (what was decided stays so)
-- Returns how many URLs were decided as failed/blocked; 0 when there are none left.
-- Cost    O(leases + 1,000 * log queue).
local server, now, turns, out = ARGV[1], now_ms(), by_turn(), {}
if ARGV[2] == '0' then
  call('HDEL', server_of(server), 'blocked')
  return 0
end
call('HSET', server_of(server), 'blocked', 1)
for _, member in ipairs(call('ZRANGE', key('retry'), 0, -1)) do
  if string.match(member, '^%S+') == server then try_again(member) end
end
local leases = call('HGETALL', key('leases'))
for i = 1, #leases, 2 do
  if unpacked(leases[i + 1])[3] == server then out[#out + 1] = leases[i] end
end
for _, lease in ipairs(out[1] and end_leases(out, nil, now, turns) or {}) do decide(lease) end
tally('failed/blocked', #out)
remove(server)
local dropped = #out + drop(server, 1000)
wake(server, now, turns)
write_tallies()
return dropped

-- complete-2.lua: decides leases as done and takes in their outlinks, all or none of each.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of the limits (see _4_intake.lua)   ARGV[2] repeats that put a shape, a server or a domain behind, 0: never
-- ARGV[3…] one each: msgpack {url, token, reason, is a document, repeats another, domain, {refused reason: number}, links as in _4_intake.lua}
-- Returns three a lease: new links (-1 when the token is not the newest: nothing is added then), links refused,
--         {servers whose path prefixes should be sent}; a fourth where links are to be told of (see _4_intake.lua).
-- Keeps   exactly once: a second call for the same lease changes nothing.      Cost as discover-2.
local now, turns, limits, most = now_ms(), by_turn(), cmsgpack.unpack(ARGV[1]), tonumber(ARGV[2])
local done, urls, tokens, answer = {}, {}, {}, {}
for i = 3, #ARGV do
  local one = cmsgpack.unpack(ARGV[i])
  done[#done + 1], urls[#urls + 1], tokens[#tokens + 1] = one, one[1], one[2]
end
local any_repeats = call('EXISTS', key('repeats')) == 1

local function finish(lease, is_document, repeats, domain)
  decide(lease)
  if not is_document then return no_document(lease[3], now, turns) end
  if call('HDEL', site_of(lease[3]), 'newcomer', 'trying') > 0 and turns then take_turn(lease[3]) end
  if most == 0 or lease[6] >= BESIDE.again or not (repeats or any_repeats) then return end
  any_repeats = true
  count_repeat(lease[3], lease[4], domain, repeats, most)
end

for i, lease in ipairs(end_leases(urls, tokens, now, turns)) do
  local _, _, reason, is_document, repeats, domain, refused, links = unpack(done[i])
  local fresh, over, watched, told = -1, 0, {}, nil
  if lease then
    tally('done/' .. reason, 1)
    for why, number in pairs(refused) do tally('refused/' .. why, number) end
    fresh, over, watched, told = take_in(links, limits, now, turns)
    finish(lease, is_document, repeats, domain)
  end
  answer[i] = {fresh, over, watched, told}
end
write_tallies()
return answer

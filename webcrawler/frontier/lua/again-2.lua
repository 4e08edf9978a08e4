-- again-2.lua: queues URLs that are decided again, before all that is new.
-- KEYS[1] {crawl:P}:   KEYS[2] {crawl:P}:NAME:   (see _1_names.lua)
-- ARGV[1] msgpack of groups {server, {path, …}, {id, …}, {what it was decided as, "" for what may be new, or "waiting" for what only goes ahead where it waits, …}, {JSON of the request or "", …}, {spelling or "", …}}
-- Returns {how many are queued now, or went ahead, {URL that was never seen, …}}; what is queued or leased already, and what is blocked, stays as it is, but what has failed and waits for its next try is tried at once.
-- Keeps   what it was is kept aside and no longer counted, so that the states still add up.      Cost O(log queue) each.
local now, turns, queued, ahead, unseen, met = now_ms(), by_turn(), 0, 0, {}, {}
local number = tonumber(call('HGET', key('counts'), 'number') or 0)

-- What failed for want of a robots.txt is asked for with a new one, and at once where none was to be had: then nothing else was asked.
local function ask_anew(server, was)
  if string.find(was, '^failed/robots%-') then call('DEL', BASE .. 'robots:' .. server) end
  if was == 'failed/robots-unreachable' and tonumber(call('HGET', server_of(server), 'active') or 0) <= 0 then
    call('HDEL', server_of(server), 'next')
  end
end

-- Is a URL to be queued? `waits` is its score in its queue.
local function is_due(server, path, id, was, waits)
  ask_anew(server, was)
  if string.find(was, '^failed/') then call('ZADD', key('retry'), 'XX', now, server .. ' ' .. path) end
  if waits or met[server .. path] or call('ZSCORE', key('retry'), server .. ' ' .. path) or call('HEXISTS', key('leases'), server .. path) == 1 then
    return false
  end
  met[server .. path] = true
  if was == '' then
    local is_new = call('SADD', SEEN .. string.sub(id, -4), id) == 1
    if is_new then
      tally('seen', 1)
      call('HINCRBY', key('taken'), server, 1)
    end
    return is_new
  end
  if call('SISMEMBER', SEEN .. string.sub(id, -4), id) == 1 then return true end
  unseen[#unseen + 1] = server .. path
  return false
end

for _, group in ipairs(cmsgpack.unpack(ARGV[1])) do
  local server, paths, ids, before, requests, spellings = unpack(group)
  if not call('HGET', server_of(server), 'blocked') then
    local entries, waiting = {}, bulk('ZMSCORE', queue_of(server), paths)
    for i, path in ipairs(paths) do
      if before[i] == 'waiting' then
        if waiting[i] and is_movable(tonumber(waiting[i])) then
          number, ahead = number + 1, ahead + 1
          entries[#entries + 1], entries[#entries + 2] = AHEAD + number, path
        end
      elseif is_due(server, path, ids[i], before[i], waiting[i]) then
        local member, aside = server .. ' ' .. path, call('HGET', key('quarantined'), server .. path)
        if aside then before[i] = 'quarantined' end -- the catalog may not know
        number, queued = number + 1, queued + 1
        entries[#entries + 1], entries[#entries + 2] = AHEAD + number, path
        if before[i] ~= '' then
          call('HSET', key('again'), member, before[i])
          tally(before[i], -1)
        end
        if requests[i] ~= '' then call('HSET', key('request'), member, requests[i]) end
        if spellings[i] ~= '' then call('HSET', key('spelling'), member, spellings[i]) end
        if aside then
          call('HDEL', key('quarantined'), server .. path)
          if string.find(aside, 'workers') then call('HSET', key('deaths'), member, ALONE) end -- it is leased alone
        end
      end
    end
    if entries[1] then
      bulk('ZADD', queue_of(server), entries)
      wake(server, now, turns)
    end
  end
end
call('HSET', key('counts'), 'number', number)
tally('queued', queued)
write_tallies()
return {queued + ahead, unseen}

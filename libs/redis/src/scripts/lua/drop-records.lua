-- The records of processes that are gone leave with the key, or here where that is always in use.
if call('HLEN', key) > 300 then
  for _, field in ipairs(call('HKEYS', key)) do
    if string.sub(field, 1, 1) == '#' then call('HDEL', key, field) end
  end
end

-- Requests in turn over the lines of a file (METHOD PATH [BODY]); DELAY_MS lets each connection wait at random before
-- its next request, around that mean.
local lines = {}
local at = 0
function init()
  math.randomseed(7)
  for line in io.lines(os.getenv("REQUESTS")) do
    local method, path, body = line:match("^(%S+) (%S+) ?(.*)$")
    local headers = { ["Content-Type"] = "application/json" }
    lines[#lines + 1] = wrk.format(method, path, headers, body ~= "" and body or nil)
  end
  at = math.random(#lines)
end
function request()
  at = at % #lines + 1
  return lines[at]
end
local mean = tonumber(os.getenv("DELAY_MS") or "0")
if mean > 0 then
  function delay()
    return math.random(0, 2 * mean)
  end
end

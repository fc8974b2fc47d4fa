-- wrk: posts the file BODY, and compares every answer, byte for byte, with the file ANSWER (equal texts are one object in
-- LuaJIT, so this costs a comparison of memory, and less than what differs from run to run).
local function read(name)
  local file = assert(io.open(os.getenv(name), "rb"))
  local text = file:read("*a")
  file:close()
  return text
end

wrk.method = "POST"
wrk.body = read("BODY")
wrk.headers["Content-Type"] = os.getenv("CONTENT_TYPE")
local status, answer, pattern = tonumber(os.getenv("STATUS")), read("ANSWER"), os.getenv("PATTERN")
local threads = {}
wrong = 0

function setup(thread) table.insert(threads, thread) end

function response(code, headers, body)
  if code ~= status or (pattern and not body:find(pattern)) or (not pattern and body ~= answer) then wrong = wrong + 1 end
end

function done(summary, latency)
  local wrongs = 0
  for _, thread in ipairs(threads) do wrongs = wrongs + thread:get("wrong") end
  local errors = summary.errors
  print(string.format("RESULT %d %d %d %d %d %d", summary.requests, summary.duration, wrongs,
    errors.connect + errors.read + errors.write + errors.timeout, latency:percentile(50), latency:percentile(99)))
end

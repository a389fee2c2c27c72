-- Sends a step of one draft after the other. The first argument is a file with a token on each line.

local requests, last = {}, 0

function init(arguments)
    local headers = { ["Content-Type"] = "application/json", ["Origin"] = "http://localhost:8080" }
    local body = '{"name":"Ann Lee","introduction":"' .. string.rep("a word and ", 20) .. '"}'
    for token in io.lines(arguments[1]) do
        headers["Cookie"] = "signup=" .. token
        requests[#requests + 1] = wrk.format("PUT", "/signup/profile", headers, body)
    end
end

function request()
    last = last % #requests + 1
    return requests[last]
end

function done(summary, latency)
    local errors = summary.errors
    print(string.format(
        "steps: %d in %d us, %d failed, p50 %.1f, p99 %.1f",
        summary.requests, summary.duration,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end

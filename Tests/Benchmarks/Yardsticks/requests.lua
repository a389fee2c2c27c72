-- Sends requests of one kind, each with the next token. Arguments: the kind, and a file with a token on each line.

local answers = '{"name":"Ann Lee","introduction":"' .. string.rep("a word and ", 20) .. '"}'

local kinds = {
    step = function(token)
        local headers = { ["Content-Type"] = "application/json", ["Origin"] = "http://localhost:8080" }
        headers["Cookie"] = "signup=" .. token
        return wrk.format("PUT", "/signup/profile", headers, answers)
    end,
    session = function(token)
        return wrk.format("GET", "/session", { ["Cookie"] = "session=" .. token })
    end,
    check = function(token)
        local headers = { ["Cookie"] = "session=" .. token, ["X-Original-URL"] = "http://app.example/" }
        return wrk.format("GET", "/session/check", headers)
    end,
    refresh = function(token)
        local headers = { ["Content-Type"] = "application/x-www-form-urlencoded" }
        local form = "grant_type=refresh_token&client_id=shop&refresh_token=" .. token
        return wrk.format("POST", "/oauth/token", headers, form)
    end,
}

local requests, sent, answered = {}, 0, 0

-- Replaces a used refresh token by the next token of its authorization, which the response contains. There are more
-- tokens than connections, so the response has arrived before it is the turn of the next token.
local function store(status, headers, body)
    answered = answered % #requests + 1
    local token = body:match('"refresh_token":"([^"]+)"')
    if token then requests[answered] = kinds.refresh(token) end
end

function init(arguments)
    for token in io.lines(arguments[2]) do
        requests[#requests + 1] = kinds[arguments[1]](token)
    end
    -- wrk is slower if it has to read the responses.
    if arguments[1] == "refresh" then response = store end
end

function request()
    sent = sent % #requests + 1
    return requests[sent]
end

function done(summary, latency)
    local errors = summary.errors
    print(string.format(
        "requests: %d in %d us, %d failed, p50 %.1f, p99 %.1f",
        summary.requests, summary.duration,
        errors.connect + errors.read + errors.write + errors.status + errors.timeout,
        latency:percentile(50), latency:percentile(99)))
end

-- Asks the service who the person is, for the configuration in haproxy.cfg. Without an answer it sets no variable, and
-- the configuration refuses the request. The argument is the address of the service.

core.register_action("accounts", { "http-req" }, function(txn, service)
    local answer = core.httpclient():get({
        url = "http://" .. service .. "/session/check",
        headers = {
            ["X-Forwarded-Method"] = { txn.sf:method() },
            ["X-Forwarded-Host"] = { txn.sf:req_fhdr("host") },
            ["X-Forwarded-Uri"] = { txn.sf:pathq() },
            ["Sec-Fetch-Mode"] = { txn.sf:req_fhdr("sec-fetch-mode") },
            ["Cookie"] = { txn.sf:req_fhdr("cookie") },
        },
        -- In milliseconds. HAProxy asks four times if it gets no answer.
        timeout = 2500,
    })
    local function header(name)
        local values = answer.headers and answer.headers[name]
        return values and values[0] or ""
    end
    txn:set_var("txn.accounts_location", header("location"))
    txn:set_var("txn.accounts_user", header("remote-user"))
    txn:set_var("txn.accounts_email", header("remote-email"))
    txn:set_var("txn.accounts_name", header("remote-name"))
    txn:set_var("txn.accounts_identity", header("x-identity"))
    txn:set_var("txn.accounts_cookie", header("cookie"))
    -- Set last: if this variable is set, all others are set, too.
    txn:set_var("txn.accounts_status", tostring(answer.status))
end, 1)

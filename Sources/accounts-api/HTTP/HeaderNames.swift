import HTTPTypes

extension HTTPField.Name {
    static let clearSiteData = Self("Clear-Site-Data")!
    static let crossOriginOpenerPolicy = Self("Cross-Origin-Opener-Policy")!
    static let crossOriginResourcePolicy = Self("Cross-Origin-Resource-Policy")!
    static let forwardedFor = Self("X-Forwarded-For")!
    static let permissionsPolicy = Self("Permissions-Policy")!
    static let rateLimit = Self("RateLimit")!
    static let rateLimitPolicy = Self("RateLimit-Policy")!
    static let referrerPolicy = Self("Referrer-Policy")!
    static let requestID = Self("X-Request-Id")!
    static let secFetchSite = Self("Sec-Fetch-Site")!
    static let traceParent = Self("traceparent")!
}

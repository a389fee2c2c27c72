/// A short name for a browser, such as “Firefox (Linux)”, so that people recognize their own in a list. It is a guess:
/// a browser may claim to be any other.
enum BrowserName {
    static func of(_ userAgent: String) -> String {
        let browser = browsers.first { userAgent.contains($0.mark) }?.name
        let system = systems.first { userAgent.contains($0.mark) }?.name
        switch (browser, system) {
        case (let browser?, let system?): return "\(browser) (\(system))"
        case (let name?, nil), (nil, let name?): return name
        // A program usually names itself first, such as `curl/8.5.0`.
        case (nil, nil): return String(userAgent.prefix { $0 != "/" && $0 != " " }.prefix(40))
        }
    }

    /// The texts in `User-Agent` that show which browser it is, the most specific first: most browsers also claim to be
    /// Chrome or Safari.
    private static let browsers = [
        (mark: "Edg/", name: "Edge"), (mark: "OPR/", name: "Opera"),
        (mark: "SamsungBrowser/", name: "Samsung Internet"),
        (mark: "Whale/", name: "Whale"), (mark: "Firefox/", name: "Firefox"), (mark: "FxiOS/", name: "Firefox"),
        (mark: "CriOS/", name: "Chrome"), (mark: "Chrome/", name: "Chrome"), (mark: "Safari/", name: "Safari"),
    ]

    private static let systems = [
        (mark: "Android", name: "Android"), (mark: "iPhone", name: "iPhone"), (mark: "iPad", name: "iPad"),
        (mark: "Windows", name: "Windows"), (mark: "CrOS", name: "ChromeOS"), (mark: "Mac OS X", name: "macOS"),
        (mark: "Linux", name: "Linux"),
    ]
}

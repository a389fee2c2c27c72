/// How often something may happen within a period. The window slides.
package struct Limit: Hashable, Sendable {
    package let count: Int
    package let period: Duration

    package init(_ count: Int, per period: Duration) {
        self.count = count
        self.period = period
    }
}

/// What is counted, and how much of it is allowed. All but `revisions` are counted by the database, over all servers.
package struct Limits: Sendable {
    package enum Name: String, CaseIterable, Sendable {
        /// Sign-ups begun from a client network.
        case starts
        /// Commits from a client network.
        case commits
        /// Mails to an address that one client network caused, so that no stranger uses up the owner's.
        case mailsToAddressFromNetwork = "mails_to_address_from_network"
        case mailsToAddress = "mails_to_address"
        case mailsFromNetwork = "mails_from_network"
        /// Codes given for an address, over all drafts.
        case guessesForAddress = "guesses_for_address"
        /// Names that a draft asked for.
        case usernameChecks = "username_checks"
        /// Images that a draft sent, whatever they were.
        case images
    }

    package var byName: [Name: Limit]
    /// Changes of one draft, which its revision counts.
    package var revisions: Int

    package init(byName: [Name: Limit], revisions: Int) {
        self.byName = byName
        self.revisions = revisions
    }

    package subscript(name: Name) -> Limit { byName[name] ?? Self.standard(name) }

    static func standard(_ name: Name) -> Limit {
        switch name {
        case .starts: Limit(120, per: .seconds(600))
        case .commits: Limit(100, per: .seconds(3600))
        case .mailsToAddressFromNetwork: Limit(5, per: .seconds(3600))
        case .mailsToAddress: Limit(30, per: .seconds(86_400))
        case .mailsFromNetwork: Limit(100, per: .seconds(3600))
        case .guessesForAddress: Limit(100, per: .seconds(86_400))
        case .usernameChecks: Limit(60, per: .seconds(3600))
        case .images: Limit(60, per: .seconds(3600))
        }
    }

    /// Reads the mapping `limits` of a flow file, such as `{starts: 120/10m}`.
    init(of flow: inout FlowEntry) throws(FlowFileError) {
        self.init(byName: [:], revisions: 600)
        guard var entry = try flow.entry("limits") else { return }
        for name in Name.allCases { byName[name] = try entry.limit(name.rawValue) }
        revisions = try entry.integer("revisions", in: 10...1_000_000) ?? revisions
        try entry.finish()
    }
}

/// An allowance that is used up.
package struct LimitReached: Error, Hashable, Sendable {
    /// As clients hear it, such as `mails_to_address`.
    package let name: String
    package let limit: Limit
    package let wait: Duration
}

/// One thing that is about to happen, and the limit that it counts against.
struct Charge: Sendable {
    let name: String
    let limit: Limit
    /// A keyed digest of whatever the limit is counted by.
    let subject: [UInt8]
}

extension Signups {
    func charge(_ name: Limits.Name, _ subject: [UInt8]...) -> Charge {
        charge(name.rawValue, flow.limits[name], subject)
    }

    func charge(_ name: String, _ limit: Limit, _ subject: [[UInt8]]) -> Charge {
        Charge(name: name, limit: limit, subject: keys.digest([Array("limit".utf8), Array(name.utf8)] + subject))
    }

    /// A statement that consumes one from each allowance, or none. It returns a row where an allowance is used up, and then
    /// ``isWithinLimits`` is false for the rest of the transaction.
    ///
    /// - Parameter condition: what must be true for anything to be consumed.
    func consume(_ charges: [Charge], when condition: SQL = "true") -> SQL {
        charges.isEmpty
            ? "SELECT 0::bigint, 0::bigint, '' WHERE false"
            : "SELECT number, wait, \(Self.remember("exceeded", "true")) FROM \(take(charges, when: condition)) AS taken"
    }

    /// What ``consume(_:when:)`` returned: nil where every allowance had one left.
    func exceeded(_ charges: [Charge], _ rows: Rows) throws(DatabaseError) -> LimitReached? {
        guard let (number, wait, _) = try rows.first?.decode(Int.self, Int.self, String.self) else { return nil }
        guard charges.indices.contains(number - 1) else { throw .unexpectedAnswer("no limit \(number)") }
        let charge = charges[number - 1]
        return reached(charge.name, charge.limit, wait: .seconds(max(1, wait)))
    }

    /// Consumes in a transaction of its own.
    func consumeAlone(_ charges: [Charge]) async throws(DatabaseError) -> LimitReached? {
        try exceeded(charges, await database.transaction(consume(charges))[0])
    }

    /// The call that takes one from each allowance, or none. Where the condition is false it takes from the others instead,
    /// whose limits have to be the same, or nothing where there are none.
    func take(_ charges: [Charge], when condition: SQL = "true", otherwise others: [Charge] = []) -> SQL {
        var (quotas, periods): (SQL, SQL) = ("", "")
        for (index, charge) in charges.enumerated() {
            quotas = index == 0 ? "\(charge.limit.count)" : "\(quotas), \(charge.limit.count)"
            periods = index == 0 ? "\(charge.limit.period.seconds)" : "\(periods), \(charge.limit.period.seconds)"
        }
        let subjects: SQL = """
            CASE WHEN \(condition) THEN \(ByteStrings(charges.map(\.subject)))
                 ELSE \(ByteStrings(others.map(\.subject))) END
            """
        return "take_from_limits(\(subjects), ARRAY[\(quotas)]::bigint[], ARRAY[\(periods)]::bigint[])"
    }
}

extension Signups {
    /// True unless an allowance was used up in the present transaction.
    static let isWithinLimits: SQL = "NOT \(recalls("exceeded"))"

    /// An expression that decides something once for the rest of the transaction; ``recalls(_:)`` is the decision.
    static func remember(_ decision: String, _ condition: SQL) -> SQL {
        "set_config('signup.\(SQL(stringLiteral: decision))', (\(condition))::text, true)"
    }

    static func recalls(_ decision: String) -> SQL {
        "coalesce(current_setting('signup.\(SQL(stringLiteral: decision))', true) = 'true', false)"
    }

    func reached(_ name: String, _ limit: Limit, wait: Duration) -> LimitReached {
        metrics.limits.add(1, name)
        return LimitReached(name: name, limit: limit, wait: wait)
    }
}

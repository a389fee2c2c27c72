/// The maximum number of events within a sliding period.
package struct Limit: Hashable, Sendable {
    package let count: Int
    package let period: Duration

    package init(_ count: Int, per period: Duration) {
        self.count = count
        self.period = period
    }

    /// The number of slots among which the count is divided: one for a count below 1,000, otherwise a five-hundredth of
    /// the count, so that each slot has 500 to 749 events.
    var slots: Int { max(1, count / 500) }
}

/// The rate limits that a flow file can set. The table `limits` counts the events of each ``Name``, for all servers
/// together.
package struct Limits: Sendable {
    package enum Name: String, CaseIterable, Sendable {
        /// Drafts that one client network starts. Also counts requests that open a link to continue a sign-up on
        /// another device or exchange a ticket (``Ticket``) for a draft, even with an invalid link or ticket, and
        /// authorization requests that applications without a secret push.
        case starts
        /// Commits by one client network.
        case commits
        /// Mails to one address that one client network causes. Each network has its own count, so a stranger in
        /// another network cannot use up this limit of the owner.
        case mailsToAddressFromNetwork = "mails_to_address_from_network"
        /// The same mails over a longer period. The default is lower than that of `mailsToAddress`, so that one network
        /// alone cannot reach that limit.
        case mailsToAddressFromNetworkPerDay = "mails_to_address_from_network_per_day"
        case mailsToAddress = "mails_to_address"
        case mailsFromNetwork = "mails_from_network"
        /// The mails that `mailsFromNetwork` counts, of all networks together.
        case mails
        /// Changes of the credentials of one account. Each mails a notice if the account has an address. Also the
        /// maximum number of notices of each kind to one account.
        case noticesToAccount = "notices_to_account"
        /// Codes entered for an address by one client network. The default is lower than that of `guessesForAddress`,
        /// so that one network alone cannot reach that limit.
        case guessesForAddressFromNetwork = "guesses_for_address_from_network"
        /// Codes entered for an address, in all drafts of one ``FlowPurpose`` together.
        case guessesForAddress = "guesses_for_address"
        /// Usernames that one draft or account tries.
        case usernameChecks = "username_checks"
        /// Hashes that are computed for one draft: of passwords, and of words, such as a new username, to compare them
        /// with the stored hash.
        case passwordHashes = "password_hashes"
        /// Hashes that one client network causes, in drafts, sign-ins, confirmations and changes.
        case passwordHashesFromNetwork = "password_hashes_from_network"
        /// Images that one draft or account uploads, valid or not.
        case images
        /// Images that one client network uploads.
        case imagesFromNetwork = "images_from_network"

        /// Whether the owner of the address can get and enter a code in spite of this limit, with the link in an
        /// earlier mail (``Ticket``).
        package var yieldsToTicket: Bool {
            switch self {
            case .mailsToAddressFromNetwork, .mailsToAddressFromNetworkPerDay, .mailsToAddress,
                .guessesForAddressFromNetwork, .guessesForAddress:
                true
            case .starts, .commits, .mailsFromNetwork, .mails, .noticesToAccount, .usernameChecks, .passwordHashes,
                .passwordHashesFromNetwork, .images, .imagesFromNetwork:
                false
            }
        }
    }

    /// The limits that are not in ``Name``, because no flow file sets a count and a period for them.
    package enum OtherName: String, CaseIterable, Sendable {
        /// Changes of the address of one account.
        case addressChanges = "address_changes"
        /// Wrong codes of the authenticator app of one account in recoveries.
        case appGuessesForAccount = "app_guesses_for_account"
        /// Requests that change consents of one account.
        case consentChanges = "consent_changes"
        /// Mails with a link that continues one draft on another device.
        case handoff
        /// Mails to one mailbox in exchange for tickets (``Ticket``).
        case mailsByTicket = "mails_by_ticket"
        /// Wrong recovery codes of one account in recoveries.
        case recoveryCodeGuessesForAccount = "recovery_code_guesses_for_account"
        /// Mails with a code: of one draft to one address, or of the sign-ins of one client network with one address or
        /// username.
        case resend
        case revisions
    }

    /// The names of all limits that a response to a client may name.
    static let allNames = Name.allCases.map(\.rawValue) + OtherName.allCases.map(\.rawValue)

    package var byName: [Name: Limit]
    /// The maximum number of changes to one draft. The revision of the draft counts them.
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
        case .mailsToAddressFromNetworkPerDay: Limit(10, per: .seconds(86_400))
        case .mailsToAddress: Limit(30, per: .seconds(86_400))
        case .mailsFromNetwork: Limit(100, per: .seconds(3600))
        case .mails: Limit(10_000, per: .seconds(3600))
        case .noticesToAccount: Limit(30, per: .seconds(86_400))
        case .guessesForAddressFromNetwork: Limit(25, per: .seconds(86_400))
        case .guessesForAddress: Limit(100, per: .seconds(86_400))
        case .usernameChecks: Limit(60, per: .seconds(3600))
        case .passwordHashes: Limit(20, per: .seconds(3600))
        case .passwordHashesFromNetwork: Limit(120, per: .seconds(600))
        case .images: Limit(60, per: .seconds(3600))
        case .imagesFromNetwork: Limit(240, per: .seconds(3600))
        }
    }

    /// Reads the mapping `limits` of a flow file, such as `{starts: 120/10m}`.
    init(of flow: inout YAMLEntry) throws(YAMLFileError) {
        self.init(byName: [:], revisions: 600)
        guard var entry = try flow.entry("limits") else { return }
        for name in Name.allCases {
            byName[name] = try entry.limit(name.rawValue, upTo: name == .mails ? 100_000 : 2000)
        }
        revisions = try entry.integer("revisions", in: 10...1_000_000) ?? revisions
        try entry.finish()
    }
}

/// The rate limit that a request has exceeded.
package struct LimitReached: Error, Hashable, Sendable {
    /// The name of the limit as clients see it, such as `mails_to_address`.
    package let name: String
    package let limit: Limit
    /// The time after which the request may succeed.
    package let wait: Duration
}

/// An event that counts against a limit.
package struct Charge: Sendable {
    let name: String
    /// The whole limit, which clients are told, even if the event counts against only one slot.
    let limit: Limit
    /// The keyed digests of the subject, such as an address or a network, one for each of the first two keys
    /// (``KeyRing/limitDigests(_:)``). The limit has a separate count for each subject.
    let subjects: [[UInt8]]
    /// The maximum number of events of each subject in the period: the count of the limit, or the share of one slot.
    let quota: Int
}

extension Signups {
    func charge(_ name: Limits.Name, _ subject: [UInt8]...) -> Charge {
        charge(named: name.rawValue, flow.limits[name], subject)
    }

    func charge(_ name: Limits.OtherName, _ limit: Limit, _ subject: [[UInt8]]) -> Charge {
        charge(named: name.rawValue, limit, subject)
    }

    /// - Parameter name: one of ``Limits/allNames``, unless no client is told of the limit.
    func charge(named name: String, _ limit: Limit, _ subject: [[UInt8]]) -> Charge {
        Charge(name: name, limit: limit, subjects: digests(name, subject), quota: limit.count)
    }

    /// Returns the charges for an event of a client: one for its IPv4 address, or one each for the /64, /56 and /48 of
    /// its IPv6 address. The prefixes of the blocks differ in length, so their digests differ, too.
    func charges(_ name: Limits.Name, of network: Network) -> [Charge] {
        network.blocks.map { block in
            let one = flow.limits[name]
            let limit = Limit(one.count * block.multiple, per: one.period)
            return block.multiple == 1
                ? charge(named: name.rawValue, limit, [block.prefix]) : slotCharge(name, limit, [block.prefix])
        }
    }

    /// Returns the charge for an event that counts for all clients together.
    func chargeForAll(_ name: Limits.Name) -> Charge { slotCharge(name, flow.limits[name], []) }

    /// Returns an expression for the number of events of ``chargeForAll(_:)`` within the period until now.
    func hitsForAll(_ name: Limits.Name) -> SQL {
        let limit = flow.limits[name]
        let subjects = (0..<limit.slots).map { slotSubjects(name, [], $0, of: limit.slots)[0] }
        return """
            (SELECT count(*) FROM limits, unnest(hits) AS hit
              WHERE subject = ANY (\(ByteStrings(subjects)))
                AND hit > now() - make_interval(secs => \(limit.period.seconds)))
            """
    }

    /// Returns a charge against one random slot of a limit. The row of a subject contains the time of each event, and
    /// is locked until the transaction ends. With slots, the rows stay short, and many transactions can count at the
    /// same time.
    private func slotCharge(_ name: Limits.Name, _ limit: Limit, _ subject: [[UInt8]]) -> Charge {
        let slots = limit.slots
        return Charge(
            name: name.rawValue,
            limit: limit,
            subjects: slotSubjects(name, subject, Int.random(in: 0..<slots), of: slots),
            quota: limit.count / slots
        )
    }

    private func slotSubjects(_ name: Limits.Name, _ subject: [[UInt8]], _ slot: Int, of slots: Int) -> [[UInt8]] {
        digests(name.rawValue, slots == 1 ? subject : subject + [Array("\(slot)".utf8)])
    }

    private func digests(_ name: String, _ subject: [[UInt8]]) -> [[UInt8]] {
        keys.limitDigests([Array("limit".utf8), Array(name.utf8)] + subject)
    }

    /// Returns a statement that counts one event against each limit, or against none if one of them is exceeded. If a
    /// limit is exceeded, the statement selects a row, and ``isWithinLimits`` is false for the rest of the transaction.
    ///
    /// - Parameter condition: the statement counts only if this is true.
    func consume(_ charges: [Charge], when condition: SQL = "true") -> SQL {
        charges.isEmpty
            ? "SELECT 0::bigint, 0::bigint, '' WHERE false"
            : "SELECT number, wait, \(Self.setFlag("exceeded", "true")) FROM \(take(charges, when: condition)) AS taken"
    }

    /// Returns a statement that selects the same row as ``consume(_:when:)``, but counts nothing. If a limit is
    /// exceeded, ``isWithinLimits`` is false for the rest of the transaction.
    func peek(_ charges: [Charge], when condition: SQL = "true") -> SQL {
        charges.isEmpty
            ? consume([])
            : """
            SELECT number, wait, \(Self.setFlag("exceeded", "true"))
              FROM exceeded_limit(\(ByteStrings(charges.flatMap(\.subjects))), \(quotas(of: charges)))
             WHERE \(condition)
            """
    }

    /// Decodes the rows of ``consume(_:when:)`` or ``peek(_:when:)``. Returns nil if no limit was exceeded.
    func exceeded(_ charges: [Charge], _ rows: Rows) throws(DatabaseError) -> LimitReached? {
        if let work = RequestWork.current { for charge in charges { work.addLimit(charge.name) } }
        guard let (number, wait, _) = try rows.first?.decode(Int.self, Int.self, String.self) else { return nil }
        let counted = charges.flatMap { charge in charge.subjects.map { _ in charge } }
        guard counted.indices.contains(number - 1) else {
            throw .unexpectedAnswer("the database returned the limit number \(number), which does not exist")
        }
        let charge = counted[number - 1]
        return reached(named: charge.name, charge.limit, wait: .seconds(max(1, wait)))
    }

    /// Runs ``consume(_:when:)`` in its own transaction. Returns nil if no limit was exceeded.
    func consumeAlone(_ charges: [Charge]) async throws(DatabaseError) -> LimitReached? {
        try exceeded(charges, await database.transaction(consume(charges))[0])
    }

    /// Returns the call of the SQL function that counts against each limit, or against none.
    ///
    /// - Parameter others: the charges that count instead of `charges` if the condition is false; empty if none count
    ///   then. Otherwise they must have the same limits as `charges`, in the same order.
    func take(_ charges: [Charge], when condition: SQL = "true", otherwise others: [Charge] = []) -> SQL {
        let subjects: SQL = """
            CASE WHEN \(condition) THEN \(ByteStrings(charges.flatMap(\.subjects)))
                 ELSE \(ByteStrings(others.flatMap(\.subjects))) END
            """
        return "take_from_limits(\(subjects), \(quotas(of: charges)))"
    }

    /// The maximum numbers and the periods in seconds, as two arrays with one element for each subject.
    private func quotas(of charges: [Charge]) -> SQL {
        var (counts, periods): (SQL, SQL) = ("", "")
        let counted = charges.flatMap { charge in charge.subjects.map { _ in charge } }
        for (index, charge) in counted.enumerated() {
            counts = index == 0 ? "\(charge.quota)" : "\(counts), \(charge.quota)"
            periods = index == 0 ? "\(charge.limit.period.seconds)" : "\(periods), \(charge.limit.period.seconds)"
        }
        return "ARRAY[\(counts)]::bigint[], ARRAY[\(periods)]::bigint[]"
    }
}

extension Signups {
    /// The condition that no ``consume(_:when:)`` or ``peek(_:when:)`` of this transaction has found an exceeded limit.
    static let isWithinLimits: SQL = "NOT \(flag("exceeded"))"

    /// Returns an expression that stores the value of a condition until the end of the transaction. ``flag(_:)`` reads
    /// it.
    static func setFlag(_ name: String, _ condition: SQL) -> SQL {
        "set_config('signup.\(SQL(stringLiteral: name))', (\(condition))::text, true)"
    }

    /// Returns an expression for the value that ``setFlag(_:_:)`` has stored in this transaction; false if there is
    /// none.
    static func flag(_ name: String) -> SQL {
        "coalesce(current_setting('signup.\(SQL(stringLiteral: name))', true) = 'true', false)"
    }

    func reached(_ name: Limits.OtherName, _ limit: Limit, wait: Duration) -> LimitReached {
        reached(named: name.rawValue, limit, wait: wait)
    }

    /// - Parameter name: one of ``Limits/allNames``.
    func reached(named name: String, _ limit: Limit, wait: Duration) -> LimitReached {
        refused(by: LimitReached(name: name, limit: limit, wait: wait))
    }

    /// Counts a request that is refused because of the limit, and returns the limit.
    func refused(by limit: LimitReached) -> LimitReached {
        metrics.limits.add(1, limit.name)
        return limit
    }
}

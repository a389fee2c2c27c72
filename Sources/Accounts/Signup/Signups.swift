internal import Foundation

/// Creates, changes and commits the drafts of one flow: of the sign-up, or of another flow such as the recovery. Each
/// act has its own file, in this folder, in a folder of `Kinds` or in `AccountFlows`.
package struct Signups: Sendable {
    package private(set) var flow: Flow
    /// ``Flow/deadline`` of the flow, made once because each request needs it several times.
    private(set) var deadline: SQL
    package let serviceName: String
    let database: Database
    package let keys: KeyRing
    let hashing: HashingPool
    /// The list of breached passwords; nil if the server has none.
    let breached: BreachedPasswords?
    let images: ImagePool
    let outbox: Outbox
    package let metrics: Metrics
    package let funnel: Funnel
    package let partitions: DraftPartitions
    let turns: DraftTurns
    /// The network of the client. Some rate limits count the requests of each network.
    private(set) var network = Network.unknown

    /// The maximum number of requests that wait for others to write to the same draft, unless a test sets another one.
    package static let waitingRequests = 4

    package init(
        flow: Flow,
        serviceName: String,
        database: Database,
        keys: KeyRing,
        hashing: HashingPool,
        breached: BreachedPasswords? = nil,
        images: ImagePool,
        outbox: Outbox,
        metrics: Metrics = Metrics(),
        waitingRequests: Int = Signups.waitingRequests
    ) {
        self.flow = flow
        deadline = flow.deadline
        self.serviceName = serviceName
        self.database = database
        self.keys = keys
        self.hashing = hashing
        self.breached = breached
        self.images = images
        self.outbox = outbox
        self.metrics = metrics
        funnel = Funnel(metrics: metrics)
        turns = DraftTurns(waiting: waitingRequests)
        partitions = DraftPartitions(life: flow.expiry.absolute)
    }

    /// Returns a copy for a client in that network.
    package func from(_ network: Network) -> Signups {
        var signups = self
        signups.network = network
        return signups
    }

    /// Returns a copy for the drafts of another flow, such as the recovery.
    package func following(_ flow: Flow) -> Signups {
        var signups = self
        signups.flow = flow
        signups.deadline = flow.deadline
        return signups
    }

    /// - Parameter values: the values of the draft after a change; nil for its present values.
    package func validationContext(
        of draft: Draft,
        with values: Values? = nil,
        answers: Answers = Answers()
    ) -> ValidationContext {
        let values = values ?? draft.values
        return ValidationContext(
            flow: flow,
            now: draft.now,
            language: draft.language,
            serviceName: serviceName,
            values: values,
            proofs: draft.proofs,
            answers: answers,
            isPasswordOnlyFactor: flow.purpose == .recovery && values.subject?.needsSecondFactor != true,
            hasValidValues: values.validFlow == flow.digest
        )
    }

    package func progress(of draft: Draft) -> SignupProgress {
        draft.progress ?? SignupProgress(of: validationContext(of: draft))
    }

    /// Returns the table of that draft, with the alias `drafts`, for statements about this draft only.
    func table(of draft: ID<Draft>) -> SQL { partitions.table(of: draft) }

    /// Returns the first statement of a transaction, which locks the row of the draft. Other transactions that change
    /// or lock the draft wait until this one ends.
    func lock(_ draft: Draft) -> SQL {
        "SELECT 1 FROM \(table(of: draft.id)) WHERE id = \(draft.id) FOR UPDATE"
    }

    /// Returns the condition for changing a draft that was read before: the draft still has the same revision, and is
    /// neither committed nor expired.
    func isCurrent(_ draft: Draft) -> SQL {
        """
        drafts.id = \(draft.id) AND drafts.revision = \(draft.revision) AND drafts.account_id IS NULL
        AND now() < \(deadline)
        """
    }

    /// Returns ``isCurrent(_:)`` as a condition for statements that do not select from `drafts`.
    func exists(_ draft: Draft) -> SQL {
        "EXISTS (SELECT FROM \(table(of: draft.id)) WHERE \(isCurrent(draft)))"
    }

    /// Returns the condition that the current transaction has written the draft. Every later statement that must take
    /// effect only together with the write has this condition.
    func hasWritten(_ draft: Draft) -> SQL {
        """
        EXISTS (SELECT FROM \(table(of: draft.id))
                 WHERE id = \(draft.id) AND xmin = pg_current_xact_id_if_assigned()::xid)
        """
    }

    /// Returns the digests by which the database finds an address, one for each key of the key ring.
    func addressDigests(_ address: EmailAddress) -> [[UInt8]] {
        keys.digests(Array("address".utf8), Array(address.rawValue.utf8))
    }
}

extension Duration {
    /// Whole seconds; the fraction is dropped.
    package var seconds: Int { Int(components.seconds) }
}

extension JSON {
    package var string: String? { if case .string(let text) = self { text } else { nil } }
}

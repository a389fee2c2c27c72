internal import Foundation

/// Everything that a person can do with a sign-up. Each act is a file beside this one.
package struct Signups: Sendable {
    package let flow: Flow
    package let serviceName: String
    let database: Database
    let keys: KeyRing
    let hashing: HashingPool
    let images: ImagePool
    let outbox: Outbox
    package let meters: Meters
    package let funnel: Funnel
    package let days: DraftDays
    /// Where the person acts from; limits count by it.
    private(set) var network = Network.unknown

    package init(
        flow: Flow,
        serviceName: String,
        database: Database,
        keys: KeyRing,
        hashing: HashingPool,
        images: ImagePool,
        outbox: Outbox,
        meters: Meters = Meters()
    ) {
        self.flow = flow
        self.serviceName = serviceName
        self.database = database
        self.keys = keys
        self.hashing = hashing
        self.images = images
        self.outbox = outbox
        self.meters = meters
        funnel = Funnel(meters: meters)
        days = DraftDays(life: flow.absolute)
    }

    /// The same, for somebody who acts from there.
    package func from(_ network: Network) -> Signups {
        var signups = self
        signups.network = network
        return signups
    }

    package func situation(of draft: Draft, answers: JSON = .object([])) -> Situation {
        Situation(
            flow: flow,
            now: draft.now,
            language: draft.language,
            serviceName: serviceName,
            values: draft.values,
            proofs: draft.proofs,
            answers: answers
        )
    }

    package func standing(of draft: Draft) -> Standing {
        draft.standing ?? Standing(of: situation(of: draft))
    }

    /// What a statement about that draft alone calls `drafts`.
    func table(of draft: ID<Draft>) -> SQL { days.table(of: draft) }

    /// When a draft ends that nobody touches, as SQL over the columns of `drafts`.
    var deadline: SQL {
        "least(drafts.ends_at, drafts.updated_at + make_interval(secs => \(flow.idle.seconds)))"
    }

    /// The rule for every write: nobody else wrote since the draft was read, and it still lives.
    func isCurrent(_ draft: Draft) -> SQL {
        """
        drafts.id = \(draft.id) AND drafts.revision = \(draft.revision) AND drafts.account_id IS NULL
        AND now() < \(deadline)
        """
    }

    /// The digest that stands for an address in the database, under each key of the ring.
    func addressDigests(_ address: String) -> [[UInt8]] {
        keys.digests(Array("address".utf8), Array(address.utf8))
    }

    /// The address that identifies the account, if the flow asks for one and the draft has it.
    func identifyingAddress(in values: Values) -> String? {
        guard let field = flow.fields.first(where: { $0.isIdentifier && $0.kind is EmailField }) else { return nil }
        return values[field.name]?.string
    }
}

extension Duration {
    /// Whole seconds, cut.
    package var seconds: Int { Int(components.seconds) }
}

extension JSON {
    package var string: String? { if case .string(let text) = self { text } else { nil } }
}

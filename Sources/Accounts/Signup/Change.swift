/// The change that one act makes: the new values, and what must happen in the same transaction.
package struct Change {
    var values: Values
    /// The fields that lost their value, and the fields of kind `code` that lost their proof, because an answer on
    /// which they depend has changed.
    var cleared: [FieldName] = []
    var effects: [Effect] = []
    /// The new recovery codes, for the response to this act; empty if there are none. If the response is a page, the
    /// values may contain the codes, too (``Authenticator/unsavedCodes``).
    var recoveryCodes: [RecoveryCode] = []
}

/// One thing that must happen in the transaction that writes a change. Each kind of field builds its own effects.
package struct Effect {
    /// The statements that lock rows before the condition is evaluated, so that the condition sees what other
    /// transactions have done to these rows.
    var locks: [SQL] = []
    /// A condition in addition to the draft's revision. If it is false, the draft counts as changed by another request.
    var condition: SQL?
    /// Rate limits that are consumed before the change is written, unless another request has changed the draft. A
    /// submission with slow work consumes them before that work, even if another request has changed the draft.
    var limits: [Charge] = []
    /// Rate limits that are consumed after ``limits``, unless one of ``limits`` is exceeded, a name of the change is
    /// taken, or another request has changed the draft.
    var laterLimits: [Charge] = []
    /// The public name, such as a username, that must be reserved for the draft (leased) before the change is written;
    /// nil if the effect needs no name.
    var lease: LeaseRequest?
    /// The field of kind `code` whose address counts as proved, or as not proved, after the change; nil if the effect
    /// changes no proof.
    var proof: (field: FieldName, isProved: Bool)?
    /// The statements after the one that writes the draft, in this order. They run even if it has written nothing, so
    /// each must do nothing unless ``Signups/hasWritten(_:)`` is true.
    var statements: [SQL] = []
    /// Whether ``statements`` insert a mail, for which ``OutboxSender`` must be woken.
    var sendsMail = false
}

extension Change {
    var leases: [LeaseRequest] { effects.compactMap(\.lease) }
}

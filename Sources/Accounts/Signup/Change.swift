/// What one act changes: the values as they will be, and what must happen in the same transaction.
package struct Change {
    var values: Values
    /// The fields that lost their value because something they depend on changed.
    var cleared: [FieldName] = []
    var effects: [Effect] = []
    /// Shown once, when the change is written.
    var recoveryCodes: [RecoveryCode] = []
}

/// One thing that must happen in the transaction that writes a change. Each kind of field builds its own effects.
package struct Effect {
    /// What must hold beside the draft's revision; else the draft counts as changed by another request.
    var condition: SQL?
    /// Consumed before anything else happens.
    var limits: [Charge] = []
    /// Consumed if `limits` has passed and no lease is refused.
    var laterLimits: [Charge] = []
    /// A name that must belong to the draft for the change to be written.
    var lease: LeaseRequest?
    /// Whether the field's address counts as proved after the change.
    var proof: (field: FieldName, isProved: Bool)?
    /// Executed in this order after the draft was written. Each must do nothing unless ``Signups/hasWritten(_:)`` is true.
    var statements: [SQL] = []
}

extension Change {
    var leases: [LeaseRequest] { effects.compactMap(\.lease) }
}

/// The schema of the database, compiled into the executable so that no deployment can miss a file of it.
///
/// Each list names every file of its folder once; a test compares the two.
package enum Schema {
    /// A file of `sql/migrations` or `sql/functions`.
    package struct Script: Sendable {
        /// The file's name without its extension, such as `0001-signups` or `draft_id_floor`.
        package let name: String
        package let bytes: [UInt8]
        /// Whether the version before this migration can serve on the new schema.
        package let isCompatible: Bool

        init(_ name: String, _ bytes: [UInt8], isCompatible: Bool = false) {
            (self.name, self.bytes, self.isCompatible) = (name, bytes, isCompatible)
        }
    }

    /// The migrations, in the order in which they are applied. Each is applied only once, so its file must not change
    /// after its release.
    ///
    /// A migration is compatible if the version before it neither fails nor writes wrong data on the new schema.
    /// Examples are a new table, and a new column that is nullable or has a default.
    package static let migrations = [
        Script("0001-signups", PackageResources._001_signups_sql),
        Script("0002-accounts", PackageResources._002_accounts_sql),
        Script("0003-outbox", PackageResources._003_outbox_sql),
        Script("0004-rate-limits", PackageResources._004_rate_limits_sql),
        Script("0005-operators", PackageResources._005_operators_sql),
        Script("0006-key-sentinel", PackageResources._006_key_sentinel_sql, isCompatible: true),
        Script("0007-tickets", PackageResources._007_tickets_sql, isCompatible: true),
        Script("0008-mail-turns", PackageResources._008_mail_turns_sql, isCompatible: true),
        Script("0009-audit-role", PackageResources._009_audit_role_sql, isCompatible: true),
        Script("0010-sessions", PackageResources._010_sessions_sql, isCompatible: true),
        Script("0011-address-changes", PackageResources._011_address_changes_sql, isCompatible: true),
        Script("0012-imported-accounts", PackageResources._012_imported_accounts_sql, isCompatible: true),
        Script("0013-past-consents", PackageResources._013_past_consents_sql, isCompatible: true),
        Script("0014-signing-keys", PackageResources._014_signing_keys_sql, isCompatible: true),
        Script("0015-grants", PackageResources._015_grants_sql, isCompatible: true),
        Script("0016-events", PackageResources._016_events_sql, isCompatible: true),
        Script("0017-failed-deliveries", PackageResources._017_failed_deliveries_sql, isCompatible: true),
        Script("0018-delivery-claims", PackageResources._018_delivery_claims_sql, isCompatible: true),
        Script("0019-left-digests", PackageResources._019_left_digests_sql, isCompatible: true),
        Script("0020-mail-traces", PackageResources._020_mail_traces_sql, isCompatible: true),
        Script("0021-mail-of-accounts", PackageResources._021_mail_of_accounts_sql, isCompatible: true),
        Script("0022-audit-reasons", PackageResources._022_audit_reasons_sql, isCompatible: true),
    ]

    /// The SQL functions. Each file has the name of its function and contains all overloads of it. A function comes
    /// after the functions that it calls. A file is applied again whenever it has changed, so it uses
    /// `CREATE OR REPLACE`.
    ///
    /// Servers of the version before a change must be able to call the changed function. If they cannot, the changed
    /// function needs a new name.
    package static let functions = [
        Script("draft_id_floor", PackageResources.draft_id_floor_sql),
        Script("create_draft_partition", PackageResources.create_draft_partition_sql),
        Script("drop_past_draft_partitions", PackageResources.drop_past_draft_partitions_sql),
        Script("take_from_limits", PackageResources.take_from_limits_sql),
        Script("exceeded_limit", PackageResources.exceeded_limit_sql),
        Script("mail_turn", PackageResources.mail_turn_sql),
        Script("mail_is_next", PackageResources.mail_is_next_sql),
        Script("claim_mail", PackageResources.claim_mail_sql),
        Script("write_event", PackageResources.write_event_sql),
        Script("write_account_events", PackageResources.write_account_events_sql),
        Script("write_session_events", PackageResources.write_session_events_sql),
        Script("write_factor_events", PackageResources.write_factor_events_sql),
        Script("write_logout", PackageResources.write_logout_sql),
        Script("claim_deliveries", PackageResources.claim_deliveries_sql),
        Script("claim_logouts", PackageResources.claim_logouts_sql),
        Script("due_applications", PackageResources.due_applications_sql),
        Script("undo_account", PackageResources.undo_account_sql),
        Script("pepper_usage", PackageResources.pepper_usage_sql),
        Script("password_hash", PackageResources.password_hash_sql),
        Script("has_password", PackageResources.has_password_sql),
        Script("replace_password", PackageResources.replace_password_sql),
        Script("imported_kinds", PackageResources.imported_kinds_sql),
        Script("import_accounts", PackageResources.import_accounts_sql),
        Script("erase_account", PackageResources.erase_account_sql),
        Script("move_address", PackageResources.move_address_sql),
        Script("restore_address", PackageResources.restore_address_sql),
        Script("release_addresses", PackageResources.release_addresses_sql),
        Script("rename_account", PackageResources.rename_account_sql),
        Script("remove_authenticator", PackageResources.remove_authenticator_sql),
        Script("replace_photo", PackageResources.replace_photo_sql),
        Script("record_consent", PackageResources.record_consent_sql),
        Script("end_reused_authorization", PackageResources.end_reused_authorization_sql),
        Script("grant_to_roles", PackageResources.grant_to_roles_sql),
    ]

    /// The version of the functions. Each change of a function increases it, so that an older program does not replace
    /// newer functions. A test compares it with the files.
    package static let functionsVersion = 15
}

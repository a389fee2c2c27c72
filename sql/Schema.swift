/// The schema of the database, compiled into the executable so that no deployment can miss a file of it.
///
/// Each list names every file of its folder once; a test compares the two.
package enum Schema {
    /// A file of `sql/migrations` or `sql/functions`.
    package struct Script: Sendable {
        /// The file's name without its extension, such as `0001-signups` or `draft_id_floor`.
        package let name: String
        package let bytes: [UInt8]

        init(_ name: String, _ bytes: [UInt8]) {
            self.name = name
            self.bytes = bytes
        }
    }

    /// In the order in which they are applied. Each is applied once, so it stays as it is after its release.
    package static let migrations = [
        Script("0001-signups", PackageResources._001_signups_sql),
        Script("0002-accounts", PackageResources._002_accounts_sql),
        Script("0003-outbox", PackageResources._003_outbox_sql),
        Script("0004-rate-limits", PackageResources._004_rate_limits_sql),
        Script("0005-operators", PackageResources._005_operators_sql),
        Script("0006-key-sentinel", PackageResources._006_key_sentinel_sql),
    ]

    /// SQL functions, each in a file of its name with all its overloads. A function stands after those that it calls. Each
    /// is applied again whenever its file has changed, so it says `CREATE OR REPLACE`.
    package static let functions = [
        Script("draft_id_floor", PackageResources.draft_id_floor_sql),
        Script("create_draft_partition", PackageResources.create_draft_partition_sql),
        Script("drop_past_draft_partitions", PackageResources.drop_past_draft_partitions_sql),
        Script("take_from_limits", PackageResources.take_from_limits_sql),
        Script("exceeded_limit", PackageResources.exceeded_limit_sql),
    ]
}

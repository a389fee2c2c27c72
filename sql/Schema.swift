/// The schema's biography, compiled into the binary so that no container can miss a file of it.
package enum Schema {
    package struct Migration: Sendable {
        /// The file's name without its ending, such as `0001-drafts`.
        package let name: String
        package let script: [UInt8]
    }

    /// In the order in which they are applied.
    package static let migrations = [
        Migration(name: "0001-drafts", script: PackageResources._001_drafts_sql),
        Migration(name: "0002-limits", script: PackageResources._002_limits_sql),
        Migration(name: "0003-authenticators", script: PackageResources._003_authenticators_sql),
        Migration(name: "0004-handoffs", script: PackageResources._004_handoffs_sql),
        Migration(name: "0005-reaper", script: PackageResources._005_reaper_sql),
        Migration(name: "0006-limits-that-end", script: PackageResources._006_limits_that_end_sql),
        Migration(name: "0007-audit", script: PackageResources._007_audit_sql),
        Migration(name: "0008-funnel", script: PackageResources._008_funnel_sql),
        Migration(name: "0009-limits-in-one-plan", script: PackageResources._009_limits_in_one_plan_sql),
        Migration(name: "0010-photos", script: PackageResources._010_photos_sql),
    ]
}

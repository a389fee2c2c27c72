// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Warnings are errors if `WARNINGS_AS_ERRORS` is set, as it is in scripts/check, scripts/test and CI.
let strictness: [SwiftSetting] =
    ProcessInfo.processInfo.environment["WARNINGS_AS_ERRORS"] == nil ? [] : [.treatAllWarnings(as: .error)]

let settings: [SwiftSetting] =
    strictness + [
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    ]

/// The commit that `--version` names. scripts/release and the Dockerfile set it; other builds have none.
let commit = ProcessInfo.processInfo.environment["COMMIT"] ?? ""

/// Each folder includes all its files. `Assets` lists the templates, and the parts of the script in their order.
let pages: [Resource] = [
    .embedInCode("Pages/Templates"), .embedInCode("Pages/Script"), .embedInCode("Pages/properties.css"),
    .embedInCode("Pages/signup.css"),
]

let package = Package(
    name: "accounts-api",
    platforms: [.macOS(.v15)],
    products: [
        .library(name: "Accounts", targets: ["Accounts"]),
        .executable(name: "accounts-api", targets: ["accounts-api"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", exact: "1.35.2"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1"),
        .package(url: "https://github.com/hummingbird-project/swift-mustache", exact: "2.1.1"),
        .package(url: "https://github.com/jpsim/Yams", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", exact: "2.13.0"),
    ],
    targets: [
        .systemLibrary(name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(name: "CArgon2", pkgConfig: "libargon2", providers: [.apt(["libargon2-dev"])]),
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CIdn", pkgConfig: "libidn2", providers: [.apt(["libidn2-dev"])]),
        .systemLibrary(name: "CPNG", pkgConfig: "libpng16", providers: [.apt(["libpng-dev"])]),
        .systemLibrary(name: "CQRCode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
        .systemLibrary(name: "CTurboJPEG", pkgConfig: "libturbojpeg", providers: [.apt(["libturbojpeg0-dev"])]),
        .systemLibrary(name: "CWebP", pkgConfig: "libwebp", providers: [.apt(["libwebp-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(name: "CPhoneNumber", linkerSettings: [.linkedLibrary("phonenumber")]),
        .target(name: "CSpawn"),
        .target(name: "CBuild", cSettings: [.define("SOURCE_COMMIT", to: "\"\(commit)\"")]),
        .target(name: "CRE2", linkerSettings: [.linkedLibrary("re2")]),
        .target(
            name: "Schema",
            path: "sql",
            // Each folder includes all its files. `Schema` lists them in their order.
            resources: [.embedInCode("migrations"), .embedInCode("functions")],
            swiftSettings: settings
        ),
        .target(
            name: "Accounts",
            dependencies: [
                "CArgon2", "CCrypt", "CCurl", "CIdn", "CPNG", "CPhoneNumber", "CPostgres", "CRE2", "CSpawn",
                "CTurboJPEG", "CWebP", "Schema",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Passwords/common-passwords.LICENSE.md"],
            resources: [
                .embedInCode("Flow/signup.yaml"), .embedInCode("Messages/en.yaml"), .embedInCode("Messages/ko.yaml"),
            ],
            swiftSettings: settings
        ),
        .executableTarget(
            name: "accounts-api",
            dependencies: [
                "Accounts", "CBuild", "CQRCode", "CZlib",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdCore", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Mustache", package: "swift-mustache"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            resources: pages,
            swiftSettings: settings
        ),
        .target(
            name: "TestSupport",
            dependencies: ["Accounts", .product(name: "Logging", package: "swift-log")],
            path: "Tests/TestSupport",
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccountsTests",
            dependencies: [
                "Accounts", "Schema", "TestSupport", .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ],
            // The tests compile the first, which is loaded into the image worker, and run the second.
            exclude: ["Images/forbidden-calls.c", "Images/without-seccomp.py"],
            swiftSettings: settings
        ),
        .testTarget(
            name: "AccountsAPITests",
            dependencies: [
                "Accounts", "TestSupport", "accounts-api",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "Yams", package: "Yams"),
            ],
            // The tests compile the first, which is loaded into the server, and run the second.
            exclude: ["Events/changing-name.c", "HTTP/connections.py"],
            swiftSettings: settings
        ),
    ],
    swiftLanguageModes: [.v6],
    cxxLanguageStandard: .cxx17
)

// scripts/sanitize replaces the module `Synchronization` in builds for the thread sanitizer.
if ProcessInfo.processInfo.environment["SANITIZER"] == "thread" {
    let substitute = "SanitizedSynchronization"
    for target in package.targets where target.swiftSettings != nil {
        target.dependencies.append(.target(name: substitute))
    }
    package.targets.append(.target(name: substitute, path: "Tests/SanitizedSynchronization"))
}

// The programs of scripts/fuzz and scripts/bench exist only in the builds of these scripts. Both programs use internal
// names of `Accounts`, so the scripts pass -enable-testing.
if ProcessInfo.processInfo.environment["FUZZING"] != nil {
    package.targets.append(
        .executableTarget(
            name: "Fuzzing",
            dependencies: ["Accounts"],
            path: "Tests/Fuzzing",
            exclude: ["corpus"],
            swiftSettings: settings
        )
    )
}
if ProcessInfo.processInfo.environment["BENCHMARKS"] != nil,
    let server = package.targets.first(where: { $0.name == "accounts-api" })
{
    // The benchmarks also run the server with other designs of database connections. So the server is a library in this
    // build.
    package.products.removeAll { $0.name == server.name }
    package.targets.removeAll { $0.name == server.name || $0.type == .test }
    package.targets += [
        .target(
            name: server.name,
            dependencies: server.dependencies,
            exclude: ["Commands/AccountsAPI.swift"],
            resources: pages,
            swiftSettings: settings
        ),
        .executableTarget(
            name: "Benchmarks",
            dependencies: ["CArgon2", .target(name: server.name)] + server.dependencies,
            path: "Tests/Benchmarks",
            exclude: ["Yardsticks/requests.lua"],
            swiftSettings: settings
        ),
    ]
}

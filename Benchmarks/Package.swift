// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stead-benchmarks",
  platforms: [.macOS(.v15)],
  traits: [
    .trait(name: "Server", description: "notes-grdb. The other programs need no web server.")
  ],
  dependencies: [
    .package(name: "stead", path: ".."),
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    // Of the trait Server alone.
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "records",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .executableTarget(
      name: "preferences",
      dependencies: [
        "BenchmarkHarness", "CLMDB",
        .product(name: "SteadPreferences", package: "stead"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .executableTarget(
      name: "secrets",
      dependencies: [
        "BenchmarkHarness", "LibsecretPeer",
        .product(name: "SteadFiles", package: "stead"),
        .product(name: "SteadSecrets", package: "stead"),
      ]
    ),
    .executableTarget(
      name: "history",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadPreferences", package: "stead"),
      ]
    ),
    .executableTarget(
      name: "formats",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadPreferences", package: "stead"),
      ]
    ),
    .executableTarget(
      name: "transfers",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "SteadTransfer", package: "stead"),
      ]
    ),
    .executableTarget(
      name: "evolution",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .executableTarget(
      name: "caches",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadCaches", package: "stead"),
        .product(name: "GRDBSQLite", package: "GRDB.swift"),
      ]
    ),
    .executableTarget(
      name: "advice",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadPreferences", package: "stead"),
        .product(name: "SteadSecrets", package: "stead"),
      ]
    ),
    .executableTarget(
      name: "lint",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadLint", package: "stead"),
        .product(name: "SwiftParser", package: "swift-syntax"),
      ]
    ),
    .executableTarget(
      name: "sync",
      dependencies: [
        "BenchmarkHarness",
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "SteadSync", package: "stead"),
      ]
    ),
    // The service of the example notes-server on GRDB: server-bench measures both. Empty without the trait.
    .executableTarget(
      name: "notes-grdb",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(
          name: "Hummingbird", package: "hummingbird", condition: .when(traits: ["Server"])),
      ]
    ),
    .target(name: "BenchmarkHarness"),
    .target(name: "LibsecretPeer", dependencies: ["CLibsecret"]),
    .systemLibrary(
      name: "CLibsecret", pkgConfig: "libsecret-1", providers: [.apt(["libsecret-1-dev"])]),
    .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

// Apart from the root package, which would otherwise fetch a web server for everybody.
let package = Package(
  name: "stead-tools",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "stead", targets: ["stead"]),
    .library(name: "SteadSyncServer", targets: ["SteadSyncServer"]),
  ],
  dependencies: [
    // For the linter's parser. The vault's and the compiler plugin's packages are neither fetched nor built.
    .package(name: "stead", path: "..", traits: ["Lint"]),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
  ],
  targets: [
    .systemLibrary(name: "CServerSQLite", providers: [.apt(["libsqlite3-dev"])]),
    .systemLibrary(
      name: "CServerPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CServerZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "SteadSyncServer",
      dependencies: [
        "CServerPostgreSQL", "CServerSQLite", "CServerZlib",
        .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "Logging", package: "swift-log"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
        .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
        .product(name: "SteadSyncProtocol", package: "stead"),
        .product(name: "UnixSignals", package: "swift-service-lifecycle"),
      ]),
    .executableTarget(
      name: "stead",
      dependencies: [
        "SteadSyncServer",
        .product(name: "ArgumentParser", package: "swift-argument-parser"),
        .product(name: "SteadAdviceCommand", package: "stead"),
        .product(name: "SteadLintCommand", package: "stead"),
      ]),
    .testTarget(name: "SteadCommandTests", dependencies: ["stead"]),
    .testTarget(
      name: "SteadSyncServerTests",
      dependencies: [
        "SteadSyncServer", "stead", .product(name: "Crypto", package: "swift-crypto"),
        .product(name: "SteadSyncProtocol", package: "stead"),
      ],
      // Run by a test.
      exclude: ["Python"]),
  ],
  swiftLanguageModes: [.v6]
)

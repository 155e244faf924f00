// swift-tools-version: 6.2
import PackageDescription

// Apart from the other examples, which would otherwise fetch a web server.
let package = Package(
  name: "notes-server",
  platforms: [.macOS(.v15)],
  dependencies: [
    .package(name: "stead", path: "../..", traits: ["Records"]),
    // The same service on it, to compare with.
    .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
  ],
  targets: [
    .executableTarget(
      name: "notes-server",
      dependencies: [
        .product(name: "GRDB", package: "GRDB.swift"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "SteadSwiftData", package: "stead"),
      ]),
    .testTarget(
      name: "NotesServerTests",
      dependencies: [
        "notes-server", .product(name: "HummingbirdTesting", package: "hummingbird"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

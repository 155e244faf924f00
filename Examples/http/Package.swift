// swift-tools-version: 6.2
import PackageDescription

// Apart from the other examples, which would otherwise fetch a web server and a client.
let package = Package(
  name: "http-caches",
  platforms: [.macOS(.v15)],
  products: [
    .library(name: "CacheMiddleware", targets: ["CacheMiddleware"]),
    .library(name: "CachingClient", targets: ["CachingClient"]),
  ],
  dependencies: [
    // Without the parser of models and the vault's package.
    .package(name: "stead", path: "../..", traits: []),
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    .target(
      name: "CacheMiddleware",
      dependencies: [
        .product(name: "AsyncAlgorithms", package: "swift-async-algorithms"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "Hummingbird", package: "hummingbird"),
        .product(name: "SteadCaches", package: "stead"),
      ]),
    .target(
      name: "CachingClient",
      dependencies: [
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
        .product(name: "NIOHTTP1", package: "swift-nio"),
        .product(name: "SteadCaches", package: "stead"),
      ]),
    .testTarget(
      name: "HTTPExampleTests",
      dependencies: [
        "CacheMiddleware", "CachingClient",
        .product(name: "AsyncHTTPClient", package: "async-http-client"),
        .product(name: "HTTPTypes", package: "swift-http-types"),
        .product(name: "HummingbirdTesting", package: "hummingbird"),
        .product(name: "NIOEmbedded", package: "swift-nio"),
        .product(name: "NIOFoundationCompat", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)

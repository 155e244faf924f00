// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stead-examples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "git-credential-stead", targets: ["git-credential-stead"]),
    .executable(name: "race", targets: ["race"]),
    .executable(name: "shelf", targets: ["shelf"]),
  ],
  dependencies: [.package(name: "stead", path: "..")],
  targets: [
    .target(
      name: "ShelfKit", dependencies: [.product(name: "SteadSwiftData", package: "stead")]),
    .executableTarget(name: "shelf", dependencies: ["ShelfKit"]),
    .testTarget(name: "ShelfKitTests", dependencies: ["ShelfKit"]),
    .target(name: "RaceKit"),
    .executableTarget(
      name: "race",
      dependencies: ["RaceKit", .product(name: "SteadPreferences", package: "stead")]),
    .testTarget(name: "RaceKitTests", dependencies: ["RaceKit"]),
    .target(
      name: "GitCredentialKit", dependencies: [.product(name: "SteadSecrets", package: "stead")]),
    .executableTarget(
      name: "git-credential-stead",
      dependencies: ["GitCredentialKit", .product(name: "SteadSecrets", package: "stead")]),
    .testTarget(
      name: "GitCredentialKitTests",
      dependencies: [
        "GitCredentialKit", "git-credential-stead",
        .product(name: "SteadSecrets", package: "stead"),
      ],
      resources: [.copy("server.py")]),
    // Not in the root package: see the note beside its target OSLog.
    .testTarget(
      name: "OSLogTests", dependencies: [.product(name: "SteadOSLog", package: "stead")]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stead-examples",
  platforms: [.macOS(.v15)],
  products: [
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
    // Not in the root package: see the note beside its target OSLog.
    .testTarget(
      name: "OSLogTests", dependencies: [.product(name: "SteadOSLog", package: "stead")]),
  ],
  swiftLanguageModes: [.v6]
)

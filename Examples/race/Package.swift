// swift-tools-version: 6.2
import PackageDescription

// A package as a program's own. The other examples are targets of this repository's package, and are built with it.
let package = Package(
  name: "race",
  platforms: [.macOS(.v15)],
  dependencies: [
    // Preferences need no other package. A trait fetches what some products need: "Records", "Secrets".
    .package(name: "stead", path: "../..", traits: [])
  ],
  targets: [
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

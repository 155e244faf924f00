// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "stead-examples",
  platforms: [.macOS(.v15)],
  products: [
    .executable(name: "drafts", targets: ["drafts"]),
    .executable(name: "evolve", targets: ["evolve"]),
    .executable(name: "generations", targets: ["generations"]),
    .executable(name: "git-credential-stead", targets: ["git-credential-stead"]),
    .executable(name: "httpcache", targets: ["httpcache"]),
    .executable(name: "race", targets: ["race"]),
    .executable(name: "shelf", targets: ["shelf"]),
    .executable(name: "starter", targets: ["starter"]),
    .executable(name: "two-devices", targets: ["two-devices"]),
  ],
  // Without the trait, `swift build --disable-default-traits --product race` fetches no other package.
  traits: [
    .default(enabledTraits: ["Everything"]),
    .trait(
      name: "Everything", description: "All examples. Without it: those on preferences alone."),
  ],
  dependencies: [
    .package(
      name: "stead", path: "..",
      traits: [.trait(name: "Everything", condition: .when(traits: ["Everything"]))])
  ],
  targets: [
    // What several examples read and print.
    .target(name: "ExampleSupport"),
    .testTarget(name: "ExampleSupportTests", dependencies: ["ExampleSupport"]),
    .target(
      name: "ShelfKit",
      dependencies: ["ExampleSupport", .product(name: "SteadSwiftData", package: "stead")]),
    .executableTarget(name: "shelf", dependencies: ["ExampleSupport", "ShelfKit"]),
    .testTarget(name: "ShelfKitTests", dependencies: ["ExampleSupport", "ShelfKit"]),
    .target(
      name: "EvolveKit",
      dependencies: ["ExampleSupport", .product(name: "SteadSwiftData", package: "stead")],
      resources: [.copy("schema.lock.json")]),
    .executableTarget(name: "evolve", dependencies: ["EvolveKit", "ExampleSupport"]),
    .testTarget(
      name: "EvolveKitTests",
      dependencies: ["EvolveKit", "ExampleSupport", "ExampleTestSupport", "evolve"]),
    .target(name: "RaceKit"),
    .executableTarget(
      name: "race",
      dependencies: ["RaceKit", .product(name: "SteadPreferences", package: "stead")]),
    .testTarget(name: "RaceKitTests", dependencies: ["RaceKit"]),
    .target(
      name: "GitCredentialKit", dependencies: [.product(name: "SteadSecrets", package: "stead")]),
    .executableTarget(
      name: "git-credential-stead",
      dependencies: ["GitCredentialKit", .product(name: "SteadSecrets", package: "stead")],
      // Functions are found when the program starts. The first call of one that is looked for later puts all
      // vector registers on the stack, and keys may be in them.
      linkerSettings: [
        .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))
      ]),
    .testTarget(
      name: "GitCredentialKitTests",
      dependencies: [
        "ExampleTestSupport", "GitCredentialKit", "git-credential-stead",
        .product(name: "SteadSecrets", package: "stead"),
      ],
      resources: [.copy("server.py")]),
    .target(
      name: "DraftsKit",
      dependencies: [
        .product(name: "SteadPreferences", package: "stead"),
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "SteadTransfer", package: "stead"),
      ]),
    .executableTarget(
      name: "drafts", dependencies: ["DraftsKit"],
      resources: [.copy("com.example.drafts.plist")]),
    // The version of the app before it, on Foundation alone.
    .executableTarget(name: "drafts-before"),
    .testTarget(
      name: "DraftsKitTests",
      dependencies: ["DraftsKit", "ExampleTestSupport", "drafts", "drafts-before"]),
    .target(
      name: "GenerationsKit",
      dependencies: [
        .product(name: "SteadPreferences", package: "stead"),
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "SteadTransfer", package: "stead"),
      ]),
    .executableTarget(name: "generations", dependencies: ["GenerationsKit"]),
    .testTarget(
      name: "GenerationsKitTests",
      dependencies: ["ExampleTestSupport", "GenerationsKit", "generations"]),
    .target(
      name: "HTTPCacheKit", dependencies: [.product(name: "SteadCaches", package: "stead")]),
    .executableTarget(name: "httpcache", dependencies: ["HTTPCacheKit"]),
    .testTarget(
      name: "HTTPCacheKitTests",
      dependencies: ["ExampleTestSupport", "HTTPCacheKit", "httpcache"]),
    // What Scripts/new-app copies.
    .executableTarget(
      name: "starter",
      dependencies: [
        .product(name: "SteadPreferences", package: "stead"),
        .product(name: "SteadSecrets", package: "stead"),
        .product(name: "SteadSwiftData", package: "stead"),
      ]),
    .testTarget(name: "StarterTests", dependencies: ["ExampleTestSupport", "starter"]),
    // Scripts/two-devices runs it with a server.
    .target(
      name: "TwoDevicesKit",
      dependencies: [
        .product(name: "SteadSwiftData", package: "stead"),
        .product(name: "SteadSync", package: "stead"),
      ]),
    .executableTarget(
      name: "two-devices",
      dependencies: ["TwoDevicesKit", .product(name: "SteadSync", package: "stead")]),
    // Adapters without a program of their own: settings for a user interface, tokens for OAuth.
    .target(
      name: "SettingsKit", dependencies: [.product(name: "SteadPreferences", package: "stead")]),
    .testTarget(
      name: "SettingsKitTests",
      dependencies: [
        "ExampleTestSupport", "SettingsKit", .product(name: "SteadPreferences", package: "stead"),
      ]),
    .target(name: "TokenKit", dependencies: [.product(name: "SteadSecrets", package: "stead")]),
    .testTarget(
      name: "TokenKitTests",
      dependencies: [
        "ExampleTestSupport", "TokenKit", .product(name: "SteadSecrets", package: "stead"),
        .product(name: "SteadSecretsTesting", package: "stead"),
      ]),
    .target(name: "ExampleTestSupport", path: "Tests/ExampleTestSupport"),
    // Not in the root package: see the note beside its target OSLog.
    .testTarget(
      name: "OSLogTests", dependencies: [.product(name: "SteadOSLog", package: "stead")]),
  ],
  swiftLanguageModes: [.v6]
)

// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// `SwiftData`, `OSLog` and `os` are names that Apple's systems already have. There the products lead
// to targets whose sources exist only off Apple, so that nothing shadows the system's modules.
#if canImport(Darwin)
  let swiftDataTargets = ["SteadRecords"]
  let loggingTargets = ["SteadFiles"]
#else
  // SwiftData's module file stays the same when SteadRecords changes, and the package manager looks at
  // direct dependencies alone: without the second target it would not recompile what depends on the
  // product, and programs would crash for classes of another layout.
  let swiftDataTargets = ["SwiftData", "SteadRecords"]
  let loggingTargets = ["CSteadOS", "OSLog", "os"]
#endif

let needsSyntax = TargetDependencyCondition.when(
  traits: ["Everything", "Records", "Transfer", "Server"])
let needsParser = TargetDependencyCondition.when(traits: ["Everything", "Lint", "Server"])
let needsCrypto = TargetDependencyCondition.when(
  traits: ["Everything", "Secrets", "Transfer", "Server"])
let needsServer = TargetDependencyCondition.when(traits: ["Server"])
let argumentParser = Target.Dependency.product(
  name: "ArgumentParser", package: "swift-argument-parser", condition: needsParser)

let package = Package(
  name: "stead",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "SteadFiles", targets: ["SteadFiles"]),
    .library(name: "SteadPreferences", targets: ["SteadPreferences"]),
    .library(name: "SteadDefault", targets: ["SteadDefault"]),
    .library(name: "SteadSecrets", targets: ["SteadSecrets"]),
    // For targets of tests: it keeps secrets in the clear.
    .library(name: "SteadSecretsTesting", targets: ["SteadSecretsTesting"]),
    .library(name: "SteadRecords", targets: ["SteadRecords"]),
    .library(name: "SteadSwiftData", targets: swiftDataTargets),
    .library(name: "SteadTransfer", targets: ["SteadTransfer"]),
    .library(name: "SteadCaches", targets: ["SteadCaches"]),
    .library(name: "SteadAdvice", targets: ["SteadAdvice"]),
    .library(name: "SteadAdviceCommand", targets: ["SteadAdviceCommand"]),
    .executable(name: "stead-advise", targets: ["stead-advise"]),
    .library(name: "SteadLint", targets: ["SteadLint"]),
    .library(name: "SteadLintCommand", targets: ["SteadLintCommand"]),
    .executable(name: "stead-lint", targets: ["stead-lint"]),
    .plugin(name: "LintPlugin", targets: ["LintPlugin"]),
    .plugin(name: "LintBuildPlugin", targets: ["LintBuildPlugin"]),
    .library(name: "SteadSync", targets: ["SteadSync"]),
    // The command line: the server, the linter, the advice.
    .executable(name: "stead", targets: ["stead"]),
    .library(name: "SteadOSLog", targets: loggingTargets),
  ],
  // What a program does not ask for, it does not fetch: with `traits: []` there is nothing to clone.
  //
  // One trait stands for all by default. The package manager (6.3) gives the compiler a flag for each that is
  // enabled, in another order each time, and compiles everything again when the order is another.
  traits: [
    .default(enabledTraits: ["Everything"]),
    .trait(name: "Everything", description: "All products."),
    .trait(
      name: "Records",
      description:
        "SteadRecords, SteadSwiftData, SteadSync. Their macros are built with swift-syntax."),
    .trait(
      name: "Secrets",
      description: "SteadSecrets and SteadSecretsTesting. The vault is built with swift-crypto."),
    .trait(
      name: "Lint",
      description:
        "SteadLint, and the commands. They need swift-syntax and swift-argument-parser."),
    .trait(
      name: "Server",
      description:
        "The command stead, with the sync server. Nobody gets a web server without asking for it."),
    .trait(
      name: "Transfer",
      description: "SteadTransfer, between all of the others."),
  ],
  dependencies: [
    .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
    .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    // Of the trait Server alone.
    .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
    .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    // Of its examples and their tests alone.
    .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
    .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0"),
    .package(url: "https://github.com/swift-server/async-http-client", from: "1.37.0"),
  ],
  targets: [
    // What every other target may use: digests and JSON. Without Foundation, and no product.
    .target(name: "CSteadEncoding"),
    .target(name: "SteadEncoding", dependencies: ["CSteadEncoding"]),
    // Its JSON is tested through the values that are read from it, too.
    .testTarget(
      name: "SteadEncodingTests",
      dependencies: ["CSteadEncoding", "SteadEncoding", "SteadFormats", "SteadSyncProtocol"]),
    .target(name: "CSteadFiles"),
    .target(name: "SteadFiles", dependencies: ["CSteadFiles", "SteadEncoding"]),
    // The formats that several targets read and write. No product.
    .target(name: "SteadFormats", dependencies: ["SteadEncoding"]),
    .target(
      name: "SteadPreferences", dependencies: ["SteadEncoding", "SteadFiles", "SteadFormats"]),
    // The API of the library Default, for programs that were written for it.
    .target(name: "SteadDefault", dependencies: ["SteadPreferences"]),
    .target(name: "CSteadSecrets"),
    .target(
      name: "SteadSecrets",
      dependencies: [
        "CSteadSecrets", "SteadEncoding", "SteadFiles",
        .product(name: "Crypto", package: "swift-crypto", condition: needsCrypto),
        .product(
          name: "CryptoExtras", package: "swift-crypto", condition: needsCrypto),
      ]
    ),
    .target(name: "SteadSecretsTesting", dependencies: ["SteadFiles", "SteadSecrets"]),
    .target(name: "CSteadSQLite", linkerSettings: [.linkedLibrary("sqlite3")]),
    .target(name: "SteadSQLite", dependencies: ["CSteadSQLite"]),
    .target(
      name: "SteadCaches",
      dependencies: ["CSteadFiles", "CSteadSQLite", "SteadEncoding", "SteadFiles", "SteadSQLite"]),
    .target(name: "CSteadRuntime"),
    .macro(
      name: "SteadRecordsMacros",
      dependencies: [
        .product(
          name: "SwiftSyntaxMacros", package: "swift-syntax", condition: needsSyntax),
        .product(
          name: "SwiftCompilerPlugin", package: "swift-syntax",
          condition: needsSyntax),
        .product(
          name: "SwiftIfConfig", package: "swift-syntax", condition: needsSyntax),
      ]
    ),
    .target(
      name: "SteadRecords",
      dependencies: [
        "CSteadRuntime", "CSteadSQLite", "SteadEncoding", "SteadFiles", "SteadFormats",
        "SteadRecordsMacros", "SteadSQLite",
      ]
    ),
    .target(name: "SwiftData", dependencies: ["SteadRecords"]),
    .target(
      name: "SteadTransfer",
      dependencies: [
        "SteadEncoding", "SteadFiles", "SteadFormats", "SteadPreferences", "SteadRecords",
        "SteadSQLite", "SteadSecrets",
      ]),
    .target(
      name: "SteadLint",
      dependencies: [
        .product(name: "SwiftParser", package: "swift-syntax", condition: needsParser),
        .product(name: "SwiftSyntax", package: "swift-syntax", condition: needsParser),
      ]
    ),
    .target(name: "SteadLintCommand", dependencies: ["SteadLint", argumentParser]),
    .executableTarget(name: "stead-lint", dependencies: ["SteadLintCommand", argumentParser]),
    // `swift package lint`, and a step of a target's build.
    .plugin(
      name: "LintPlugin",
      capability: .command(
        intent: .custom(verb: "lint", description: "Finds persistence mistakes in Swift sources.")),
      dependencies: ["stead-lint"]),
    .plugin(name: "LintBuildPlugin", capability: .buildTool(), dependencies: ["stead-lint"]),
    .testTarget(
      // The results of fixes are compiled with the modules of SwiftData.
      name: "SteadLintTests",
      dependencies: ["SteadLint", "SteadLintCommand", "SteadTestSupport", "SwiftData"],
      // Read where they lie.
      exclude: ["Clean"]),
    // Their tests are in Examples/: swift-syntax logs through a module `OSLog` wherever it sees one, and
    // the compiler plugin, built for the same test bundle, would then have to be linked with it.
    .target(name: "OSLog"),
    .target(name: "os", dependencies: ["OSLog"]),
    // The parts of the module `os`, such as `os.log`.
    .target(name: "CSteadOS"),
    // The tests of the macros are a package of their own, Tests/SteadRecordsMacrosTests.
    // A second process, for the tests of stores that several programs share.
    .target(
      name: "WorkerModels", dependencies: ["SteadRecords", "SwiftData"],
      path: "Tests/Support/WorkerModels"),
    .executableTarget(
      name: "StoreWorker",
      dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData", "WorkerModels"],
      path: "Tests/Workers/StoreWorker"
    ),
    // Stores for the tests of records.
    .target(
      name: "RecordsTestSupport", dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"],
      path: "Tests/Support/RecordsTestSupport"),
    .testTarget(
      name: "SteadRecordsTests",
      dependencies: [
        "RecordsTestSupport", "SteadEncoding", "SteadRecords", "SteadSQLite", "SteadTestSupport",
        "StoreWorker",
        "SwiftData", "WorkerModels",
      ],
      exclude: ["Migration/EarlierStores/Stores"]
    ),
    // A module of its own, with models made for one story each.
    .testTarget(
      name: "EngineFailureTests",
      dependencies: [
        "RecordsTestSupport", "SteadFormats", "SteadRecords", "SteadSQLite", "SteadTestSupport",
        "StoreWorker", "SwiftData", "WorkerModels",
      ]
    ),
    // Random sequences of operations against a reference: models, reference and runner, which a test
    // and a program use, since sequences that crash are run in a process of their own.
    .target(
      name: "ModelJudge", dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"],
      path: "Tests/Support/ModelJudge"),
    .executableTarget(
      name: "ModelRunner", dependencies: ["ModelJudge", "SteadTestSupport"],
      path: "Tests/Workers/ModelRunner"),
    .testTarget(
      name: "RecordsModelTests", dependencies: ["ModelJudge", "ModelRunner", "SteadTestSupport"]),
    // Modules of their own, as apps are: their models have the names that apps give them.
    .testTarget(
      name: "ReadingAppTests", dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"]
    ),
    .testTarget(
      name: "CampusAppTests", dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"]
    ),
    // A module of its own, with the public API alone, as stores of apps are written.
    .testTarget(
      name: "CustomStoreTests",
      dependencies: ["RecordsTestSupport", "SteadRecords", "SteadTestSupport", "SwiftData"]
    ),
    // In Swift 5 mode, as tutorials are written.
    .testTarget(
      name: "TutorialTests", dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"],
      swiftSettings: [.swiftLanguageMode(.v5)]
    ),
    // A module of its own, since its models share names with those of the semantics tests.
    .testTarget(
      name: "RecordsQueryTests",
      dependencies: ["SteadRecords", "SteadTestSupport", "SwiftData"]
    ),
    .target(
      name: "SteadTestSupport", dependencies: ["CForkSupport", "SteadFormats"],
      path: "Tests/Support/SteadTestSupport"),
    // Requests for caches, and what policies make of them: a test compares, a program prints for the plot.
    .target(
      name: "CacheTraces", dependencies: ["SteadCaches", "SteadTestSupport"],
      path: "Tests/Support/CacheTraces"),
    .executableTarget(
      name: "TraceRunner", dependencies: ["CacheTraces"], path: "Tests/Workers/TraceRunner"),
    // Caches in directories of their own, with a clock that tests set.
    .target(
      name: "CachesTestSupport", dependencies: ["SteadCaches", "SteadFiles", "SteadTestSupport"],
      path: "Tests/Support/CachesTestSupport"),
    .testTarget(
      name: "SteadCachesTests",
      dependencies: [
        "CacheSuite", "CacheTraces", "CachesTestSupport", "LocalServer", "SteadCaches",
        "SteadFiles", "SteadSQLite", "SteadTestSupport",
      ],
      // Read where they lie.
      exclude: [
        "Disk/EarlierCaches", "Suite/http-cache-tests.json", "Suite/http-cache-tests.LICENSE",
      ]
    ),
    // An HTTP server for tests of clients, and a runner of the public suite of HTTP cache tests.
    .target(
      name: "LocalServer", dependencies: ["SteadFiles"], path: "Tests/Support/LocalServer"),
    .target(
      name: "CacheSuite", dependencies: ["LocalServer", "SteadCaches"],
      path: "Tests/Support/CacheSuite"),
    // See Scripts/http-cache-tests.
    .executableTarget(
      name: "CacheSuiteRunner", dependencies: ["CacheSuite", "SteadCaches"],
      path: "Tests/Workers/CacheSuiteRunner"
    ),
    // A second process, for the tests of caches that several programs share.
    .executableTarget(
      name: "CachesWorker",
      dependencies: ["CachesTestSupport", "SteadCaches", "SteadSQLite", "SteadTestSupport"],
      path: "Tests/Workers/CachesWorker"
    ),
    .testTarget(
      name: "CachesProcessTests",
      dependencies: [
        "CachesTestSupport", "CachesWorker", "LocalServer", "SteadCaches", "SteadTestSupport",
      ]
    ),
    .target(
      name: "SteadSync",
      dependencies: [
        "SteadEncoding", "SteadFiles", "SteadFormats", "SteadPreferences", "SteadRecords",
        "SteadSQLite", "SteadSyncProtocol",
      ]),
    // Devices and a server that speaks HTTP, for the tests of the sync.
    .target(
      name: "SyncTestSupport",
      dependencies: [
        "LocalServer", "SteadRecords", "SteadSync", "SteadSyncProtocol", "SteadTestSupport",
        "SwiftData",
      ],
      path: "Tests/Support/SyncTestSupport"),
    // A device that is killed.
    .executableTarget(
      name: "SyncWorker",
      dependencies: ["SteadSync", "SteadTestSupport", "SwiftData", "SyncTestSupport"],
      path: "Tests/Workers/SyncWorker"),
    // One of several devices; see Scripts/sync-devices.
    .executableTarget(
      name: "SyncPeer",
      dependencies: [
        "SteadEncoding", "SteadFiles", "SteadRecords", "SteadSync", "SteadTestSupport", "SwiftData",
        "SyncTestSupport",
      ],
      path: "Tests/Workers/SyncPeer"),
    .testTarget(
      name: "SteadSyncTests",
      dependencies: [
        "LocalServer", "SteadPreferences", "SteadRecords", "SteadSQLite", "SteadSync",
        "SteadSyncProtocol", "SteadTestSupport", "SwiftData", "SyncPeer", "SyncTestSupport",
        "SyncWorker",
      ],
      exclude: ["EarlierZones"]),
    // Where data belongs: decisions, without any store.
    .target(name: "SteadAdvice"),
    .target(
      name: "SteadAdviceCommand",
      dependencies: ["SteadAdvice", "SteadLint", "SteadLintCommand", argumentParser]),
    .executableTarget(
      name: "stead-advise",
      dependencies: ["SteadAdviceCommand", "SteadLintCommand", argumentParser]),
    // What the advice declares, so that it is compiled.
    .target(
      name: "AdviceDeclarations",
      dependencies: [
        "SteadCaches", "SteadFiles", "SteadPreferences", "SteadSecrets", "SteadTransfer",
        "SwiftData", .product(name: "Crypto", package: "swift-crypto", condition: needsCrypto),
      ],
      path: "Tests/Support/AdviceDeclarations"
    ),
    .testTarget(
      name: "SteadAdviceTests",
      dependencies: [
        "AdviceDeclarations", "SteadAdvice", "SteadAdviceCommand", "SteadTestSupport",
        argumentParser,
      ]),
    // The sync protocol: values, and two state machines over them.
    .target(name: "SteadSyncProtocol", dependencies: ["SteadEncoding"]),
    // Devices, a server and a network as values, which a test and a program run.
    .target(
      name: "SyncSimulator", dependencies: ["SteadSyncProtocol"],
      path: "Tests/Support/SyncSimulator"),
    // See Scripts/sync-simulate.
    .executableTarget(
      name: "SyncSimulatorRunner", dependencies: ["SteadSyncProtocol", "SyncSimulator"],
      path: "Tests/Workers/SyncSimulatorRunner"),
    .testTarget(
      name: "SteadSyncProtocolTests",
      dependencies: ["SteadSyncProtocol", "SteadTestSupport", "SyncSimulator"]),
    // The sync server. Without the trait Server its sources are empty, so that a build of the whole package
    // needs nothing that a program doesn't get.
    .systemLibrary(
      name: "CServerPostgreSQL", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
    .systemLibrary(name: "CServerZlib", providers: [.apt(["zlib1g-dev"])]),
    .target(
      name: "SteadSyncServer",
      dependencies: [
        .target(name: "CServerPostgreSQL", condition: needsServer),
        .target(name: "CServerZlib", condition: needsServer), "SteadSQLite", "SteadSyncProtocol",
        .product(name: "Crypto", package: "swift-crypto", condition: needsCrypto),
        .product(name: "Hummingbird", package: "hummingbird", condition: needsServer),
        .product(name: "Logging", package: "swift-log", condition: needsServer),
        .product(name: "NIOCore", package: "swift-nio", condition: needsServer),
        .product(name: "NIOPosix", package: "swift-nio", condition: needsServer),
        .product(
          name: "ServiceLifecycle", package: "swift-service-lifecycle", condition: needsServer),
        .product(name: "UnixSignals", package: "swift-service-lifecycle", condition: needsServer),
      ]),
    .executableTarget(
      name: "stead",
      dependencies: [
        "SteadAdviceCommand", "SteadLintCommand", "SteadSyncServer", argumentParser,
      ]),
    .testTarget(
      name: "SteadCommandTests", dependencies: ["stead", "stead-advise", "stead-lint"]),
    .testTarget(
      name: "SteadSyncServerTests",
      dependencies: [
        "SteadSQLite", "SteadSyncProtocol", "SteadSyncServer", "SteadTestSupport", "SyncPeer",
        "SyncWorker", "stead",
        .product(name: "Crypto", package: "swift-crypto", condition: needsCrypto),
      ],
      // Run and read by tests.
      exclude: ["Engine/EarlierServer", "Python"]),
    // What Swift does not let a program do: fork, and look into vector registers.
    .target(name: "CForkSupport", path: "Tests/Support/CForkSupport"),
    .testTarget(
      name: "SteadFilesTests",
      dependencies: ["CForkSupport", "SteadEncoding", "SteadFiles", "SteadTestSupport"]),
    .testTarget(
      name: "SteadSQLiteTests", dependencies: ["CSteadSQLite", "SteadSQLite", "SteadTestSupport"]),
    .testTarget(
      name: "SteadFormatsTests",
      dependencies: ["SteadEncoding", "SteadFormats", "SteadTestSupport"]),
    .testTarget(
      name: "SteadPreferencesTests",
      dependencies: ["CForkSupport", "SteadFormats", "SteadPreferences", "SteadTestSupport"],
      exclude: ["Domain/EarlierFiles"]
    ),
    .testTarget(name: "SteadDefaultTests", dependencies: ["SteadDefault", "SteadPreferences"]),
    // A second process, for the tests of preferences that several programs share.
    .executableTarget(
      name: "PreferencesWorker",
      dependencies: ["CSteadFiles", "SteadDefault", "SteadPreferences", "SteadTestSupport"],
      path: "Tests/Workers/PreferencesWorker"
    ),
    .testTarget(
      name: "PreferencesProcessTests",
      dependencies: ["PreferencesWorker", "SteadPreferences", "SteadTestSupport"]
    ),
    .testTarget(
      name: "SteadTransferTests",
      dependencies: [
        "CForkSupport", "SteadEncoding", "SteadFiles", "SteadPreferences", "SteadRecords",
        "SteadSQLite",
        "SteadSecrets", "SteadTestSupport", "SteadTransfer", "SwiftData",
      ],
      exclude: ["CoreData/Stores"]
    ),
    // A second process, for the tests of transfers that are killed.
    .executableTarget(
      name: "TransferWorker",
      dependencies: [
        "SteadPreferences", "SteadRecords", "SteadSecrets", "SteadTestSupport", "SteadTransfer",
        "SwiftData", "WorkerModels",
      ],
      path: "Tests/Workers/TransferWorker"
    ),
    .testTarget(
      name: "TransferProcessTests",
      dependencies: [
        "SteadPreferences", "SteadRecords", "SteadTestSupport", "SteadTransfer", "SwiftData",
        "TransferWorker", "WorkerModels",
      ]
    ),
    .testTarget(
      name: "SteadSecretsTests",
      dependencies: [
        "CForkSupport", "CSteadSecrets", "SteadEncoding", "SteadFiles", "SteadSecrets",
        "SteadSecretsTesting",
        "SteadTestSupport",
        .product(name: "Crypto", package: "swift-crypto", condition: needsCrypto),
        .product(
          name: "CryptoExtras", package: "swift-crypto", condition: needsCrypto),
      ],
      exclude: ["Vault/EarlierVaults", "Vault/vault.py"]
    ),
    // A second process, for the tests of secrets that several programs share.
    .executableTarget(
      name: "SecretsWorker",
      dependencies: ["SteadSecrets", "SteadSecretsTesting", "SteadTestSupport"],
      path: "Tests/Workers/SecretsWorker"
    ),
    .testTarget(
      name: "SecretsProcessTests",
      dependencies: ["SecretsWorker", "SteadSecrets", "SteadTestSupport"]
    ),
  ],
  swiftLanguageModes: [.v6]
)

// The examples, which are built and tested with the package. `race` is a package of its own: Examples/race.
let records: [Target.Dependency] = ["SteadRecords", "SwiftData"]
package.targets += [
  // What several examples read and print.
  example("ExampleSupport"),
  example("ShelfKit", ["ExampleSupport"] + records),
  program("shelf", ["ExampleSupport", "ShelfKit"]),
  example("EvolveKit", ["ExampleSupport"] + records, resources: [.copy("schema.lock.json")]),
  program("evolve", ["EvolveKit", "ExampleSupport"]),
  example("GitCredentialKit", ["SteadSecrets"]),
  program(
    "git-credential-stead", ["GitCredentialKit", "SteadSecrets"],
    // Functions are found when the program starts. The first call of one that is looked for later puts all
    // vector registers on the stack, and keys may be in them.
    linkerSettings: [
      .unsafeFlags(["-Xlinker", "-z", "-Xlinker", "now"], .when(platforms: [.linux]))
    ]),
  example("DraftsKit", ["SteadPreferences", "SteadTransfer"] + records),
  program("drafts", ["DraftsKit"], resources: [.copy("com.example.drafts.plist")]),
  // The version of the app before it, on Foundation alone.
  program("drafts-before", []),
  example("GenerationsKit", ["SteadPreferences", "SteadTransfer"] + records),
  program("generations", ["GenerationsKit"]),
  example("HTTPCacheKit", ["SteadCaches"]),
  program("httpcache", ["HTTPCacheKit"]),
  // What Scripts/new-app copies.
  program("starter", ["SteadPreferences", "SteadSecrets"] + records),
  // Scripts/two-devices runs it with a server.
  example("TwoDevicesKit", ["SteadSync"] + records),
  program("two-devices", ["SteadSync", "TwoDevicesKit"]),
  // Adapters without a program of their own: settings for a user interface, tokens for OAuth.
  example("SettingsKit", ["SteadPreferences"]),
  example("TokenKit", ["SteadSecrets"]),
  .target(name: "ExampleTestSupport", path: "Examples/Tests/ExampleTestSupport"),
  .testTarget(
    name: "ExampleTests",
    dependencies: [
      "DraftsKit", "EvolveKit", "ExampleSupport", "ExampleTestSupport", "GenerationsKit",
      "GitCredentialKit", "HTTPCacheKit", "SettingsKit", "ShelfKit", "SteadPreferences",
      "SteadSecrets", "SteadSecretsTesting", "TokenKit", "drafts", "drafts-before", "evolve",
      "generations", "git-credential-stead", "httpcache", "starter",
    ] + records, path: "Examples/Tests/ExampleTests",
    resources: [.copy("GitCredential/server.py")]),
  // An HTTP cache in a web server and in another client. Empty without the trait Server.
  .target(
    name: "CacheMiddleware",
    dependencies: [
      "SteadCaches",
      .product(
        name: "AsyncAlgorithms", package: "swift-async-algorithms", condition: needsServer),
      .product(name: "HTTPTypes", package: "swift-http-types", condition: needsServer),
      .product(name: "Hummingbird", package: "hummingbird", condition: needsServer),
    ],
    path: "Examples/http/Sources/CacheMiddleware"),
  .target(
    name: "CachingClient",
    dependencies: [
      "SteadCaches",
      .product(name: "AsyncHTTPClient", package: "async-http-client", condition: needsServer),
      .product(name: "NIOCore", package: "swift-nio", condition: needsServer),
      .product(name: "NIOFoundationCompat", package: "swift-nio", condition: needsServer),
      .product(name: "NIOHTTP1", package: "swift-nio", condition: needsServer),
    ],
    path: "Examples/http/Sources/CachingClient"),
  .testTarget(
    name: "HTTPExampleTests",
    dependencies: [
      "CacheMiddleware", "CachingClient",
      .product(name: "AsyncHTTPClient", package: "async-http-client", condition: needsServer),
      .product(name: "HTTPTypes", package: "swift-http-types", condition: needsServer),
      .product(name: "HummingbirdTesting", package: "hummingbird", condition: needsServer),
      .product(name: "NIOEmbedded", package: "swift-nio", condition: needsServer),
      .product(name: "NIOFoundationCompat", package: "swift-nio", condition: needsServer),
    ],
    path: "Examples/http/Tests/HTTPExampleTests"),
  // A web service with a context for each request. Empty without the trait Server. Benchmarks/server-bench measures it.
  example(
    "NotesKit",
    [
      "SteadRecords", "SwiftData",
      .product(name: "Hummingbird", package: "hummingbird", condition: needsServer),
    ]),
  program(
    "notes-server",
    [
      "NotesKit", "SteadRecords", "SwiftData",
      .product(name: "Hummingbird", package: "hummingbird", condition: needsServer),
    ]),
  .testTarget(
    name: "NotesServerTests",
    dependencies: [
      "NotesKit", "SteadRecords", "SwiftData",
      .product(name: "Hummingbird", package: "hummingbird", condition: needsServer),
      .product(name: "HummingbirdTesting", package: "hummingbird", condition: needsServer),
    ],
    path: "Examples/Tests/NotesServerTests"),
]

func example(
  _ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []
) -> Target {
  .target(
    name: name, dependencies: dependencies, path: "Examples/Sources/\(name)",
    resources: resources)
}

func program(
  _ name: String, _ dependencies: [Target.Dependency], resources: [Resource] = [],
  linkerSettings: [LinkerSetting] = []
) -> Target {
  .executableTarget(
    name: name, dependencies: dependencies, path: "Examples/Sources/\(name)",
    resources: resources, linkerSettings: linkerSettings)
}

// Set by Scripts/check. Flags on the command line would reach the dependencies, too, and a setting
// that is always there would break the build of whoever has a newer compiler.
if Context.environment["STEAD_WARNINGS_AS_ERRORS"] != nil {
  for target in package.targets where target.type != .plugin && target.type != .system {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

// For whoever works on one library: the named targets, and what they need. `STEAD_ONLY=SteadCachesTests swift
// build --build-tests` compiles a tenth of the package. Products whose targets are left out go as well.
if let names = Context.environment["STEAD_ONLY"], !names.isEmpty {
  var needed: Set<String> = []
  func add(_ name: String) {
    guard let target = package.targets.first(where: { $0.name == name }),
      needed.insert(name).inserted
    else { return }
    for dependency in target.dependencies {
      switch dependency {
      case .targetItem(let name, _), .byNameItem(let name, _): add(name)
      default: break
      }
    }
  }
  for name in names.split(separator: ",") { add(String(name)) }
  package.targets.removeAll { !needed.contains($0.name) }
  package.products.removeAll { product in
    switch product {
    case let library as Product.Library: !needed.isSuperset(of: library.targets)
    case let executable as Product.Executable: !needed.isSuperset(of: executable.targets)
    case let plugin as Product.Plugin: !needed.isSuperset(of: plugin.targets)
    default: false
    }
  }
}

// swift-tools-version: 6.2
import CompilerPluginSupport
import PackageDescription

// A package of its own. The package manager builds a test bundle for the compiler's host when one of its
// targets depends on a macro itself. In the root package that would be all tests, and each library would be
// compiled twice: for the tests, and for the programs that they start.
let package = Package(
  name: "stead-macros-tests",
  platforms: [.macOS(.v15)],
  dependencies: [.package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.1")],
  targets: [
    // The sources of SteadRecordsMacros, by a symbolic link.
    .macro(
      name: "MacrosUnderTest",
      dependencies: [
        .product(name: "SwiftSyntaxMacros", package: "swift-syntax"),
        .product(name: "SwiftCompilerPlugin", package: "swift-syntax"),
        .product(name: "SwiftIfConfig", package: "swift-syntax"),
      ],
      path: "MacrosUnderTest",
      // The trait that the sources ask for.
      swiftSettings: [.define("Records")]
    ),
    .testTarget(
      name: "SteadRecordsMacrosTests",
      dependencies: [
        "MacrosUnderTest",
        .product(name: "SwiftSyntaxMacrosGenericTestSupport", package: "swift-syntax"),
      ],
      path: "Tests"
    ),
  ],
  swiftLanguageModes: [.v6]
)

if Context.environment["STEAD_WARNINGS_AS_ERRORS"] != nil {
  for target in package.targets {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}

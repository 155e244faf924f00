import Foundation
import SteadPreferences
import SteadTestSupport
import Testing

/// Preferences that an earlier version has written open, keep every value, and go on.
@Suite struct EarlierFileTests {
  /// A directory of files; `EarlierFiles/README.md` tells how they differ.
  enum Files: String, CaseIterable { case logged, published, xml }

  private let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  /// Copies files, so that no journal has the inode number that it was made with.
  private func prepare(_ files: Files) throws {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "EarlierFiles/\(files.rawValue)", directoryHint: .isDirectory)
    let names = try FileManager.default.contentsOfDirectory(atPath: source.filePath)
    try #require(names.contains("\(FleetPreferences.domain).journal"))
    for name in names {
      let file = directory.file(name)
      try Data(contentsOf: source.file(name)).write(to: file)
      try file.setMode(0o600)
    }
  }

  /// The preferences as another program opens them, with the errors that they report.
  private func open() throws -> (preferences: Preferences, errors: ErrorLog) {
    let preferences = try Preferences(domain: FleetPreferences.domain, directory: directory.url)
    return (preferences, ErrorLog(preferences))
  }

  private func expect(_ values: [String: PropertyList], in preferences: Preferences) {
    #expect(preferences.storedKeys == Set(values.keys))
    for (key, value) in values { #expect(preferences.propertyList(forKey: key) == value, "\(key)") }
  }

  @Test(arguments: Files.allCases) func `every value is there`(files: Files) throws {
    try prepare(files)
    for _ in 1...2 {
      let (preferences, errors) = try open()
      expect(FleetPreferences.values, in: preferences)
      try preferences.flush()
      #expect(errors.texts == [])
    }
  }

  @Test(arguments: Files.allCases) func `values are set and published`(files: Files) throws {
    try prepare(files)
    var values = FleetPreferences.values
    do {
      let (preferences, errors) = try open()
      values["changed"] = .integer(3)
      values["new"] = .string("new")
      values["empty"] = nil
      for key in ["changed", "new", "empty"] {
        try preferences.setPropertyList(values[key], forKey: key)
      }
      expect(values, in: preferences)
      #expect(preferences.synchronize())
      try preferences.setPropertyList(.integer(4), forKey: "last")
      values["last"] = .integer(4)
      #expect(errors.texts == [])
    }
    let (preferences, errors) = try open()
    expect(values, in: preferences)
    #expect(errors.texts == [])
  }

  @Test(arguments: Files.allCases) func `a program that only reads has every value`(
    files: Files
  ) throws {
    try prepare(files)
    let preferences = try Preferences(
      domain: FleetPreferences.domain, directory: directory.url,
      options: Preferences.Options(isReadOnly: true))
    expect(FleetPreferences.values, in: preferences)
  }

  @Test func `the property list alone has what was published`() throws {
    try prepare(.published)
    try FileManager.default.removeItem(at: directory.file("\(FleetPreferences.domain).journal"))
    let (preferences, _) = try open()
    expect(
      Dictionary(uniqueKeysWithValues: FleetPreferences.first.map { ($0.key, $0.value) }),
      in: preferences)
  }
}

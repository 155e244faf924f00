import Foundation
import SteadFiles
import Testing

@testable import SteadPreferences

/// Places where a domain has no files and can get none: a home that does not exist, and one in which nothing can be made,
/// such as `/`. `Preferences(domain:)` threw in the one and kept values in memory in the other, and its error said that
/// values were kept.
@Suite(.needs(.smallDisk)) struct NoFilesTests {
  enum Place: CaseIterable { case missingHome, homeOfAnother, missingConfig, otherDirectory }

  private let disk: SmallDisk
  private var home: String { disk.directory.url.filePath }

  init() throws { disk = try SmallDisk(byteCount: 1 << 20) }

  private func environment(_ place: Place) -> Preferences.Environment {
    var variables = ["HOME": home]
    if place == .missingHome { variables["HOME"] = home + "missing" }
    if place == .missingConfig { variables["XDG_CONFIG_HOME"] = home + "none/config" }
    return Preferences.Environment(appID: "org.example.tool", variables: variables, host: "h")
  }

  private func directory(_ place: Place) -> URL? {
    place == .otherDirectory ? disk.directory.file("new") : nil
  }

  @Test(arguments: Place.allCases)
  func `preferences of a domain throw where it can't have files`(place: Place) throws {
    try disk.makeReadOnly()
    let error = #expect(throws: PreferencesError.self) {
      try Preferences(
        domain: "org.example.a", directory: directory(place), environment: environment(place))
    }
    #expect(error?.code == .unavailable)
    #expect(error?.message.contains("memory") == false, "nothing is kept")
    try disk.makeWritable()
    if place == .missingHome { try POSIXDisk().makeDirectory(home + "missing", mode: 0o700) }
    let preferences = try Preferences(
      domain: "org.example.a", directory: directory(place), environment: environment(place))
    try preferences.strict.set(1, forKey: "n")
    try preferences.flush()
  }

  /// A value in memory alone was gone with the object, though it was to count until the process ends.
  @Test(arguments: Place.allCases.filter { $0 != .otherDirectory }, [nil, "org.example.b"])
  func `a value in memory counts when its preferences are gone`(
    place: Place, suite: String?
  ) throws {
    try disk.makeReadOnly()
    let environment = environment(place)
    func open() throws -> Preferences {
      let made = try #require(Preferences(suiteName: suite, environment: environment))
      made.onError = { _ in }
      return made
    }
    try open().set("v", forKey: "k")
    let second = try open()
    #expect(second.string(forKey: "k") == "v")
    let third = try open()
    second.set("w", forKey: "k")
    #expect(third.string(forKey: "k") == "w")
    try disk.makeWritable()
    if place == .missingHome { try POSIXDisk().makeDirectory(home + "missing", mode: 0o700) }
    try second.strict.set("x", forKey: "k")
    #expect(third.string(forKey: "k") == "x")
    try third.strict.set(1, forKey: "n")
    #expect(second.string(forKey: "k") == "x" && second.integer(forKey: "n") == 1)
    let stored = try second.search.list.target.storedContents().count
    #expect(stored == 2)
  }

  /// It said that all values were in the journal, where there was none.
  @Test(arguments: Place.allCases.filter { $0 != .otherDirectory })
  func `an error without any value doesn't tell of a journal`(place: Place) throws {
    try disk.makeReadOnly()
    let preferences = try #require(
      Preferences(suiteName: nil, environment: environment(place)))
    let errors = ForkSafeLock<[PreferencesError]>([])
    preferences.onError = { error in errors.withLock { $0.append(error) } }
    let thrown = #expect(throws: PreferencesError.self) { try preferences.flush() }
    #expect(!preferences.synchronize())
    for error in errors.withLock({ $0 }) + (thrown.map { [$0] } ?? []) {
      #expect(error.code == .unavailable)
      #expect(!error.message.contains("journal"), "\(error)")
    }
  }

  /// The advice was to make the directory writable, which it was.
  @Test func `a full disk is named by whoever opens a domain on it`() throws {
    try disk.fill()
    let error = #expect(throws: PreferencesError.self) {
      try Preferences(domain: "a", environment: environment(.homeOfAnother))
    }
    #expect(error?.code == .noSpace)
    #expect(error?.message.contains("full") == true)
    #expect(error?.message.contains("writable") == false)
    let standard = try #require(
      Preferences(suiteName: nil, environment: environment(.homeOfAnother)))
    #expect(standard.lastError?.message.contains("full") == true)
    standard.onError = { _ in }
    standard.set(1, forKey: "n")
    #expect(standard.integer(forKey: "n") == 1)
    try FileManager.default.removeItem(at: disk.directory.file("filler"))
    try standard.strict.set(2, forKey: "m")
    #expect(try standard.search.list.target.storedContents().count == 2)
  }
}

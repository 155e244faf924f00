import Foundation
import SteadFiles
import Testing

@testable import SteadPreferences

/// Which files stay open, and stay watched, when nobody uses their domains any more.
@Suite(.needs(.file("/proc/self/fd"))) struct ReleasedDomainTests {
  private static let count = 50

  @Test(arguments: [false, true])
  func `a domain is closed with its last preferences`(isReadOnly: Bool) throws {
    let directory = try TemporaryDirectory(inMemory: true)
    try prepare(directory)
    var opened = try open(directory, Preferences.Options(isReadOnly: isReadOnly))
    let stores = opened.map { Released($0.search.list.target) }
    #expect(openFiles(in: directory) >= Self.count)
    opened = []
    wait(until: 0, in: directory)
    #expect(openFiles(in: directory) == 0)
    #expect(stores.allSatisfy { $0.store == nil })
  }

  /// Of the domains that can't be written, only the one with a value in memory alone is kept.
  @Test(.needs(.smallDisk))
  func `a domain stays open if a value is in memory alone`() throws {
    let disk = try SmallDisk(byteCount: 32 << 20)
    try prepare(disk.directory)
    try disk.makeReadOnly()
    var opened = try open(disk.directory, Preferences.Options())
    #expect(openFiles(in: disk.directory) >= Self.count)
    let error = #expect(throws: PreferencesError.self) {
      try opened[7].setPropertyList(.integer(-7), forKey: "k")
    }
    #expect(error?.code == .unavailable)
    // Nothing of it has to be kept.
    #expect(!opened[8].synchronize())
    #expect(throws: PreferencesError.self) { try opened[9].flush() }
    opened = []
    wait(until: 1, in: disk.directory)
    #expect(openFiles(in: disk.directory) == 1)

    opened = try open(disk.directory, Preferences.Options(), expecting: [7: -7])
    opened = []
    wait(until: 1, in: disk.directory)
    #expect(openFiles(in: disk.directory) == 1, "it is the same one")
  }

  private struct Released {
    weak var store: DomainStore?
    init(_ store: DomainStore) { self.store = store }
  }

  /// Makes the domains, and returns when none is open any more.
  private func prepare(_ directory: TemporaryDirectory) throws {
    for number in 0..<Self.count {
      let preferences = try preferences(number, directory, Preferences.Options())
      try preferences.setPropertyList(.integer(Int64(number)), forKey: "k")
    }
    wait(until: 0, in: directory)
    #expect(openFiles(in: directory) == 0)
  }

  /// Opens all domains, and has them watched.
  private func open(
    _ directory: TemporaryDirectory, _ options: Preferences.Options, expecting: [Int: Int] = [:]
  ) throws -> [Preferences] {
    try (0..<Self.count).map { number in
      let preferences = try preferences(number, directory, options)
      preferences.search.list.target.startWatching()
      #expect(preferences.integer(forKey: "k") == expecting[number] ?? number)
      return preferences
    }
  }

  private func preferences(
    _ number: Int, _ directory: TemporaryDirectory, _ options: Preferences.Options
  ) throws -> Preferences {
    let preferences = try Preferences(
      domain: "org.example.d\(number)", directory: directory.url, options: options,
      environment: Preferences.Environment(
        appID: "org.example.app", variables: ["HOME": directory.url.filePath], host: "h"))
    preferences.onError = { _ in }
    return preferences
  }

  /// Threads that take care of a domain for a moment may be the last to release it, without an event; after a minute
  /// the test fails.
  private func wait(until count: Int, in directory: TemporaryDirectory) {
    for _ in 0..<6_000 where openFiles(in: directory) > count { usleep(10_000) }
  }

  private func openFiles(in directory: TemporaryDirectory) -> Int {
    let list = "/proc/self/fd"
    let files = FileManager.default
    let names = (try? files.contentsOfDirectory(atPath: list)) ?? []
    return names.count { name in
      let target = try? files.destinationOfSymbolicLink(atPath: "\(list)/\(name)")
      return target?.hasPrefix(directory.url.filePath) == true
    }
  }
}

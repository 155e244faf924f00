import Foundation
import SteadPreferences
import Synchronization
import Testing

/// A disk that is full: what cannot be kept is refused with an error that says so, all else stays as it
/// was, and everything goes on when there is room again.
@Suite(.needs(.smallDisk), .ownThread)
struct FullDiskTests {
  enum Keys: CaseIterable { case new, same }

  /// With new keys the journal has to grow; with one key it could be written anew, if there were room.
  @Test(arguments: Keys.allCases)
  func `a full disk refuses and keeps`(keys: Keys) throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let preferences = try Preferences(domain: "domain", directory: disk.directory.url)
    let errors = reported(by: preferences)
    var expected: [String: String] = [:]
    for number in 0..<20 {
      preferences.set(number, forKey: "old.\(number)")
      expected["old.\(number)"] = "integer \(number)"
    }
    try #require(preferences.synchronize())
    try disk.fill(leaving: 64 << 10)

    let size = 8192
    var refused: String?
    for number in 1...200 where refused == nil {
      let key = keys == .new ? "new.\(number)" : "same"
      do {
        try preferences.setPropertyList(.data(Self.data(number, size)), forKey: key)
        expected[key] = Self.line(number, size)
      } catch let error as PreferencesError {
        #expect(error.code == .noSpace, "\(error)")
        refused = key
      }
    }
    let key = try #require(refused, "1.6 MB went on a disk with 64 KB")
    preferences.set(Self.data(999, 60_000), forKey: key)
    preferences.set(Self.data(999, 60_000), forKey: "old.0")
    #expect(errors.withLock { $0 } == [.noSpace, .noSpace])
    try expect(expected, in: preferences, disk)

    try disk.empty()
    preferences.set(Self.data(1000, size), forKey: key)
    preferences.set(Self.data(1001, size), forKey: "old.0")
    expected[key] = Self.line(1000, size)
    expected["old.0"] = Self.line(1001, size)
    #expect(preferences.synchronize())
    #expect(errors.withLock { $0.count } == 2)
    try expect(expected, in: preferences, disk)
  }

  @Test func `a checkpoint that does not fit is refused`() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    let preferences = try Preferences(domain: "domain", directory: disk.directory.url)
    let errors = reported(by: preferences)
    var expected: [String: String] = [:]
    for number in 0..<2 {
      preferences.set(Self.data(number, 8192), forKey: "key.\(number)")
      expected["key.\(number)"] = Self.line(number, 8192)
    }
    try #require(preferences.synchronize())
    let file = disk.directory.file("domain.plist")
    var published = Data()
    var number = 0
    repeat {
      published = try Data(contentsOf: file)
      number += 1
      preferences.set(number, forKey: "seven")
      try disk.fill()
    } while preferences.synchronize() && number < 20
    expected["seven"] = "integer \(number)"
    for _ in 0..<2 { #expect(!preferences.synchronize()) }
    let codes = Set(errors.withLock { $0 })
    #expect(codes == [.noSpace])
    #expect(try Data(contentsOf: file) == published)
    try expect(expected, in: preferences, disk)

    try disk.empty()
    preferences.set(8, forKey: "eight")
    expected["eight"] = "integer 8"
    #expect(preferences.synchronize())
    let list = try PropertyListSerialization.propertyList(
      from: try Data(contentsOf: file), format: nil)
    #expect(Set((list as? [String: Any] ?? [:]).keys) == Set(expected.keys))
    try expect(expected, in: preferences, disk)
    #expect(try disk.directory.names.count <= 4)
  }

  @Test func `a domain that cannot be made is reported`() throws {
    let disk = try SmallDisk(byteCount: 1 << 20)
    try disk.fill()
    let error = #expect(throws: PreferencesError.self) {
      _ = try Preferences(domain: "domain", directory: disk.directory.url)
    }
    // It once advised to make the directory writable, which it was.
    #expect(error?.code == .noSpace)
    #expect((error?.cause as? PreferencesError)?.code == .noSpace)
    #expect(error?.message.contains("writable") == false)
    #expect(try disk.directory.names == ["filler"])

    try disk.empty()
    let preferences = try Preferences(domain: "domain", directory: disk.directory.url)
    preferences.set(7, forKey: "seven")
    try expect(["seven": "integer 7"], in: preferences, disk)
  }

  private static func data(_ number: Int, _ size: Int) -> Data {
    Data((0..<size).map { UInt8(truncatingIfNeeded: number >> ($0 % 8 * 8)) })
  }

  private static func line(_ number: Int, _ size: Int) -> String { "data \(size) of \(number)" }

  private final class Codes: Sendable {
    private let codes = Mutex<[PreferencesError.Code]>([])

    func withLock<Value: Sendable>(
      _ body: (inout sending [PreferencesError.Code]) -> sending Value
    ) -> Value { codes.withLock(body) }
  }

  private func reported(by preferences: Preferences) -> Codes {
    let codes = Codes()
    preferences.onError = { error in codes.withLock { $0.append(error.code) } }
    return codes
  }

  /// In this process and in one that opens the domain on the disk as it is.
  private func expect(
    _ expected: [String: String], in preferences: Preferences, _ disk: SmallDisk
  ) throws {
    let found = try Worker.contents(disk.directory.url)
    #expect(Set(found.keys) == Set(expected.keys))
    for (key, line) in expected {
      #expect(found[key] == line)
      switch preferences.propertyList(forKey: key) {
      case .integer(let number)?: #expect("integer \(number)" == line)
      case .data(let data)?:
        let numbers = line.split(separator: " ").compactMap { Int($0) }
        let isExpected = numbers.count == 2 && data == Self.data(numbers[1], numbers[0])
        #expect(isExpected, "\(key)")
      default: Issue.record("\(key) is missing")
      }
    }
  }
}

import Foundation
import SteadFiles
import SteadPreferences
import Testing

@testable import SteadTransfer

/// Disks that are full, and places that can only be read.
struct TransferDiskTests {
  @Test(.needs(.smallDisk))
  func `a full destination leaves the source`() throws {
    let disk = try SmallDisk(byteCount: 4 << 20)
    let moving = try Moving(in: nil, destination: disk.directory)
    moving.put((0..<40).map { "\($0) " + String(repeating: "x", count: 10_000) })
    try disk.fill(leaving: 64 << 10)
    let error = try #require(throws: TransferError.self) { try moving.transfer().run() }
    #expect(error.code == .failed)
    #expect((error.cause as? PreferencesError)?.code == .noSpace, "\(error)")
    #expect(moving.left.count == 40)
    #expect(try moving.moved().isEmpty)
    #expect(try moving.receipt() == nil)
    try disk.empty()
    #expect(try moving.transfer().run().moved == 40)
    #expect(try moving.moved().count == 40)
  }

  @Test(.needs(.smallDisk))
  func `a full source keeps what is moved until there is room`() throws {
    let disk = try SmallDisk(byteCount: 4 << 20)
    let moving = try Moving(in: disk.directory, destination: TemporaryDirectory())
    let texts = (0..<40).map { "\($0) " + String(repeating: "x", count: 9_000) }
    moving.put(texts)
    // Half of them cannot be converted, so that the rest has to be written again.
    let partial = TransferOptions(acceptsPartial: true)
    let error = try #require(throws: TransferError.self) {
      try moving.run(partial, at: .removing, check: refusingEven) { try disk.fill() }
    }
    #expect(error.code == .failed)
    #expect((error.cause as? PreferencesError)?.code == .noSpace, "\(error)")
    #expect((moving.left.count, try moving.moved().count) == (40, 20))
    // Again, and nothing is doubled.
    #expect(throws: TransferError.self) {
      try moving.transfer(partial, check: refusingEven).run()
    }
    #expect(try moving.moved().count == 20)
    try disk.empty()
    let report = try moving.transfer().run()
    #expect((report.completed, report.moved, report.left) == (20, 20, 0))
    #expect(try moving.moved() == texts.sorted())
  }

  @Test func `a read-only source is kept`() throws {
    let moving = try Moving()
    moving.put("one", "two")
    let source = try Moving.open("org.example.old", moving.home, options: .init(isReadOnly: true))
    let report = try moving.transfer(from: source).run()
    #expect((report.moved, report.removed, report.left) == (2, 0, 2))
    #expect(try moving.transfer(from: source).run().alreadyMoved == 2)
    // Once it can be written the source can be told to give them up.
    let last = try moving.transfer(TransferOptions(removesAlreadyMoved: true)).run()
    #expect((last.moved, last.removed) == (0, 2))
    #expect(moving.left.isEmpty)
    #expect(try moving.moved() == ["one", "two"])
  }

  @Test func `a read-only destination is refused`() throws {
    let moving = try Moving()
    moving.put("one")
    moving.destination.set(1, forKey: "other")
    let destination = try Moving.open(
      "org.example.new", moving.home, options: .init(isReadOnly: true))
    let error = try #require(throws: TransferError.self) {
      try moving.transfer(to: destination).run()
    }
    #expect(error.code == .failed)
    #expect((error.cause as? PreferencesError)?.code == .readOnly)
    #expect(moving.left == ["one"])
    #expect(moving.destination.keys == ["other"])
  }

  /// Preferences that could not be opened are kept in memory; that nothing is there is then not known.
  @Test func `a source that cannot be opened is no empty one`() throws {
    let moving = try Moving()
    moving.put("one")
    let blocked = moving.home.file("blocked")
    try Data("no directory".utf8).write(to: blocked)
    let environment = Preferences.Environment(
      appID: "org.example.old", variables: ["XDG_CONFIG_HOME": blocked.filePath])
    let source = try #require(Preferences(suiteName: nil, environment: environment))
    source.onError = { _ in }
    let error = try #require(throws: TransferError.self) {
      try moving.transfer(from: source).run()
    }
    #expect((error.cause as? PreferencesError)?.code == .unavailable)
  }
}

@Sendable private func refusingEven(_ text: String) throws {
  let number = text.split(separator: " ").first.flatMap { Int($0) } ?? 0
  if number.isMultiple(of: 2) { throw CocoaError(.coderInvalidValue) }
}

import Foundation
import Testing

@testable import SteadFiles

/// Files that take a name only if nobody else has changed what has it.
@Suite struct PreparedFileTests {
  let directory: TemporaryDirectory
  let old = Data("old".utf8)
  let new = Data("new contents".utf8)
  let edited = Data("edited".utf8)

  init() throws { directory = try TemporaryDirectory() }

  private var url: URL { directory.file("a") }

  private func place(_ file: PreparedFile, ifStill expected: Data?) throws -> Bool {
    try file.place { try $0.status == nil ? expected == nil : $0.contents() == expected }
  }

  @Test func `takes the name of what is expected`() throws {
    try old.write(to: url)
    try url.setMode(0o644)
    let prepared = try AtomicFile(url).prepare(new)
    #expect(try Data(contentsOf: url) == old)
    #expect(try place(prepared, ifStill: old))
    #expect(try Data(contentsOf: url) == new)
    #expect(try directory.names == ["a"] && url.mode == 0o644)
    let found = try #require(try POSIXDisk().status(at: url.checkedPath))
    #expect(found.identity == prepared.status.identity)
    #expect(found.modifiedNanoseconds == prepared.status.modifiedNanoseconds)
  }

  @Test func `takes a free name only if it is free`() throws {
    let first = try AtomicFile(url).prepare(old)
    let second = try AtomicFile(url).prepare(new)
    #expect(try place(first, ifStill: nil))
    #expect(try !place(second, ifStill: nil))
    #expect(try Data(contentsOf: url) == old)
    let third = try AtomicFile(url).prepare(new)
    try FileManager.default.removeItem(at: url)
    #expect(try !place(third, ifStill: old))
    #expect(try directory.names.isEmpty)
  }

  @Test func `leaves what was edited meanwhile`() throws {
    try old.write(to: url)
    let prepared = try AtomicFile(url).prepare(new)
    try edited.write(to: url)
    #expect(try !place(prepared, ifStill: old))
    #expect(try Data(contentsOf: url) == edited)
    #expect(try directory.names == ["a"])
  }

  @Test func `what is discarded leaves nothing`() throws {
    try AtomicFile(url).prepare(new).discard()
    #expect(try directory.names.isEmpty)
  }

  /// An editor that saves between the last look at the file and the taking of its name.
  @Test(arguments: [true, false])
  func `an edit at the last moment stays`(byRenaming: Bool) throws {
    try old.write(to: url)
    let disk = EditingDisk { [edited] path in
      try edited.write(to: URL(filePath: path), options: byRenaming ? .atomic : [])
    }
    let prepared = try AtomicFile(url, disk: disk).prepare(new)
    #expect(try !place(prepared, ifStill: old))
    #expect(try Data(contentsOf: url) == edited)
    #expect(try directory.names == ["a"])
    try old.write(to: url)
    let error = #expect(throws: FileError.self) {
      try AtomicFile(url, disk: disk).replace(old, with: new)
    }
    #expect(error?.code == .changed)
    #expect(try Data(contentsOf: url) == edited)
  }

  /// It kept the temporary file's name, and the next writer took it for a dead one's.
  @Test func `an edit at the last moment that can't be read stays, too`() throws {
    try old.write(to: url)
    let disk = EditingDisk { [edited] path in
      try edited.write(to: URL(filePath: path), options: .atomic)
    }
    let prepared = try AtomicFile(url, disk: disk).prepare(new)
    var count = 0
    #expect(throws: FileError.self) {
      try prepared.place { found in
        count += 1
        if count == 2 { throw FileError(errno: EACCES, doing: "read it", path: "a") }
        return true
      }
    }
    #expect(count == 2)
    #expect(try Data(contentsOf: url) == edited)
    #expect(try directory.names == ["a"])
  }

  @Test func `works where names cannot be exchanged`() throws {
    try old.write(to: url)
    let file = AtomicFile(url, disk: PlainDisk())
    #expect(try place(file.prepare(new), ifStill: old))
    #expect(try Data(contentsOf: url) == new)
    #expect(try !place(file.prepare(edited), ifStill: old))
    #expect(try Data(contentsOf: url) == new)
    #expect(try directory.names == ["a"])
  }

  /// The system dates writes by a clock that stands still for milliseconds.
  @Test func `no later write has the same date`() throws {
    for number in 0..<200 {
      let prepared = try AtomicFile(url).prepare(new)
      #expect(try prepared.place { _ in true })
      let handle = try FileHandle(forWritingTo: url)
      try handle.write(contentsOf: Data([UInt8(number)]))
      try handle.close()
      let found = try #require(try POSIXDisk().status(at: url.checkedPath))
      #expect(found.size == prepared.status.size)
      #expect(found.modifiedNanoseconds != prepared.status.modifiedNanoseconds)
    }
  }
}

/// A disk on which somebody edits a file just before it loses its name.
private struct EditingDisk: ForwardingDisk {
  let real = POSIXDisk()
  let edit: @Sendable (String) throws -> Void

  func exchange(_ path: String, with otherPath: String) throws -> Bool {
    // The way back is not interrupted.
    if try real.contents(of: otherPath, limit: 100) != Data("new contents".utf8) {
      try edit(otherPath)
    }
    return try real.exchange(path, with: otherPath)
  }
}

/// A disk that cannot exchange names.
private struct PlainDisk: ForwardingDisk {
  let real = POSIXDisk()

  func exchange(_ path: String, with otherPath: String) throws -> Bool { false }
}

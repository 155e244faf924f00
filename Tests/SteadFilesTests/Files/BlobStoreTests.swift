import Foundation
import SteadEncoding
import SteadTestSupport
import Testing

@testable import SteadFiles

@Suite struct BlobStoreTests {
  let directory: TemporaryDirectory

  init() throws { directory = try TemporaryDirectory() }

  let abc = Data("abc".utf8)
  let abcReference = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
  var store: BlobStore { BlobStore(directory: directory.url.appending(path: "photos/blobs")) }

  private func code(_ body: () throws -> Void) -> FileError.Code? {
    do {
      try body()
      return nil
    } catch { return (error as? FileError)?.code }
  }

  @Test func `reads what was written under the name of its digest`() throws {
    #expect(try store.write(abc) == abcReference)
    #expect(try store.read(abcReference) == abc)
    #expect(try store.contains(abcReference))
    #expect(try store.references() == [abcReference])
    #expect(try directory.file("photos/blobs").mode == 0o700)
    #expect(try directory.file("photos/blobs/\(abcReference)").mode == 0o600)
  }

  @Test func `keeps equal values once`() throws {
    #expect(try store.write(abc) == store.write(abc))
    #expect(try store.references().count == 1)
  }

  @Test func `keeps an empty value`() throws {
    #expect(try store.read(store.write(Data())) == Data())
  }

  @Test func `moves with its directory`() throws {
    let reference = try store.write(abc)
    let moved = directory.url.appending(path: "moved")
    try FileManager.default.moveItem(at: store.directory, to: moved)
    #expect(try BlobStore(directory: moved).read(reference) == abc)
    #expect(code { _ = try store.read(reference) } == .notFound)
  }

  @Test func `says that a blob is damaged and writes it anew`() throws {
    let reference = try store.write(abc)
    try Data("abd".utf8).write(to: store.directory.appending(path: reference))
    #expect(code { _ = try store.read(reference) } == .damaged)
    #expect(try store.write(abc) == reference)
    #expect(try store.read(reference) == abc)
  }

  @Test func `a mapped blob is what was written, also once it is removed`() throws {
    let value = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    let reference = try store.write(value)
    let mapped = try store.map(reference)
    #expect(mapped == value)
    try store.remove(reference)
    #expect(mapped == value)
    #expect(code { _ = try store.map(reference) } == .notFound)
    #expect(try store.map(store.write(Data())) == Data())
    #expect(code { _ = try store.map("../secret") } == .invalidName)
  }

  /// The path was looked at, and then opened by a call that follows links: one that took the blob's place in between
  /// led to another file, whose bytes could change under the mapping. An equal file tells whether the link is followed.
  @Test func `maps nothing through a link, nor a pipe`() throws {
    let reference = try store.write(abc)
    let path = store.directory.appending(path: reference)
    let other = directory.file("other")
    try FileManager.default.moveItem(at: path, to: other)
    try FileManager.default.createSymbolicLink(at: path, withDestinationURL: other)
    #expect(code { _ = try store.map(reference) } == .damaged)
    try FileManager.default.removeItem(at: path)
    #expect(mkfifo(path.filePath, 0o600) == 0)
    #expect(code { _ = try store.map(reference) } == .damaged)
    #expect(try Data(contentsOf: other) == abc)
  }

  @Test(arguments: [
    "", "..", "../secret", "/etc/passwd", "abc",
    "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/",
    "/a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  ])
  func `takes nothing but a reference`(text: String) throws {
    #expect(code { _ = try store.read(text) } == .invalidName)
    #expect(code { _ = try store.contains(text) } == .invalidName)
    #expect(code { try store.remove(text) } == .invalidName)
  }

  /// The error's path was the text, which is a stored value where another program has written over a reference.
  @Test func `an error does not quote what is no reference`() throws {
    let error = try #require(throws: FileError.self) { try store.read("my secret PIN is 4711") }
    #expect(error.code == .invalidName && error.path == store.directory.path)
    #expect(!"\(error)".contains("4711"))
  }

  @Test func `removes one blob`() throws {
    let reference = try store.write(abc)
    try store.remove(reference)
    try store.remove(reference)
    #expect(code { _ = try store.read(reference) } == .notFound)
  }

  @Test func `sweeps what nothing refers to`() throws {
    #expect(try store.sweep(keeping: []) == 0, "there is no directory yet")
    let kept = try store.write(abc)
    let first = try store.write(Data("first".utf8))
    _ = try store.write(Data("second".utf8))
    let theirs = store.directory.appending(path: "README")
    try Data("not a blob".utf8).write(to: theirs)
    let crashing = CrashingDisk(after: 2)
    _ = try? BlobStore(directory: store.directory, disk: crashing).write(Data("third".utf8))

    #expect(try store.sweep(keeping: [kept, first, "gone before"]) == 1)

    #expect(try store.references() == [kept, first])
    let names = try FileManager.default.contentsOfDirectory(atPath: store.directory.filePath)
    #expect(Set(names) == [kept, first, "README"])
  }

  /// A directory with a blob's name counted as something to sweep, which no sweep removed: each opening tried it again.
  @Test func `what a sweep leaves is no leftover`() throws {
    let reference = try store.write(abc)
    let planted = store.directory.appending(path: String(repeating: "a", count: 64))
    try FileManager.default.createDirectory(at: planted, withIntermediateDirectories: false)
    #expect(try !store.hasLeftovers(keeping: [reference]))
    #expect(try store.hasLeftovers(keeping: []))
    #expect(try store.sweep(keeping: []) == 1)
    #expect(try !store.hasLeftovers(keeping: []))
    #expect(FileManager.default.fileExists(atPath: planted.filePath))
  }

  @Test func `spares a blob that was written again lately`() throws {
    // A writer that finds its value there already has not recorded its reference yet, while the blob
    // itself may be years old.
    let reference = try store.write(abc)
    let longAgo = Date(timeIntervalSinceNow: -10_000)
    let path = store.directory.appending(path: reference).filePath
    try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: path)
    _ = try store.write(abc)
    #expect(try store.sweep(keeping: [], olderThan: 3600) == 0)
    try FileManager.default.setAttributes([.modificationDate: longAgo], ofItemAtPath: path)
    #expect(try store.sweep(keeping: [], olderThan: 3600) == 1)
  }

  @Test func `every step of a write may be its last`() throws {
    var crashes = 0
    while true {
      let value = Data("value \(crashes)".utf8)
      let disk = CrashingDisk(after: crashes)
      do {
        let store = BlobStore(directory: directory.url.appending(path: "\(crashes)"), disk: disk)
        _ = try store.write(value)
        break
      } catch is CrashingDisk.Crash {
        let store = BlobStore(directory: directory.url.appending(path: "\(crashes)"))
        for reference in try store.references() { #expect(try store.read(reference) == value) }
        #expect(try store.read(store.write(value)) == value)
      }
      crashes += 1
    }
    #expect(crashes > 6)
  }

  @Test(.needs(.smallDisk))
  func `a full disk is an error and harms no blob`() throws {
    let disk = try SmallDisk()
    let store = BlobStore(directory: disk.directory.url.appending(path: "blobs"))
    let reference = try store.write(abc)
    try disk.fill(leaving: 8192)
    #expect(code { _ = try store.write(Data(count: 100_000)) } == .noSpace)
    #expect(try store.references() == [reference])
    #expect(try store.read(reference) == abc)
  }
}

/// A directory that came from elsewhere had a symbolic link with a blob's name. A write replaced what it led to.
@Suite struct PlantedBlobTests {
  private let place: TemporaryDirectory
  private let target: PlantedTarget
  private let value = Data("abc".utf8)
  private var store: BlobStore { BlobStore(directory: place.file("blobs")) }
  private var path: URL { store.directory.file(SHA256.hexadecimal(value)) }

  init() throws {
    place = try TemporaryDirectory()
    target = try PlantedTarget()
  }

  private func isFile(_ url: URL) throws -> Bool {
    try POSIXDisk().status(at: url.filePath)?.kind == .file
  }

  @Test(arguments: PlantedEntry.allCases, [false, true])
  func `a write replaces what isn't a file`(entry: PlantedEntry, wasWritten: Bool) throws {
    if wasWritten { _ = try store.write(value) }
    try target.plant(entry, at: path)
    if entry == .directory {
      let error = #expect(throws: FileError.self) { try store.write(value) }
      #expect(error?.code == .notAFile)
      #expect(try Data(contentsOf: path.file("file")) == Data("precious".utf8))
    } else {
      let reference = try store.write(value)
      #expect(try store.read(reference) == value)
      #expect(try isFile(path))
      #expect(try path.mode == 0o600)
    }
    #expect(try target.isUntouched)
  }

  @Test(arguments: PlantedEntry.allCases)
  func `what isn't a file is a damaged blob and goes alone`(entry: PlantedEntry) throws {
    let reference = SHA256.hexadecimal(value)
    for removes in [true, false] {
      try target.plant(entry, at: path)
      let error = #expect(throws: FileError.self) { try store.read(reference) }
      #expect(error?.code == .damaged)
      #expect(try !store.contains(reference))
      if removes { try store.remove(reference) } else { try store.sweep(keeping: []) }
      let isLeft = try POSIXDisk().status(at: path.filePath) != nil
      #expect(isLeft == (entry == .directory))
      #expect(try target.isUntouched)
    }
  }

  // A link to an equal file was read, and the value was gone with what it led to.
  @Test func `a link to an equal file isn't the blob`() throws {
    let reference = SHA256.hexadecimal(value)
    let other = place.file("other")
    try value.write(to: other)
    try FileManager.default.createDirectory(
      at: store.directory, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(at: path, withDestinationURL: other)
    #expect(throws: FileError.self) { try store.read(reference) }
    #expect(try store.write(value) == reference)
    #expect(try isFile(path))
    #expect(try Data(contentsOf: other) == value)
  }

  @Test func `the blobs directory may be a link`() throws {
    let elsewhere = place.file("elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      at: store.directory, withDestinationURL: elsewhere)
    let reference = try store.write(value)
    #expect(try store.read(reference) == value)
    #expect(try isFile(elsewhere.file(reference)))
  }
}

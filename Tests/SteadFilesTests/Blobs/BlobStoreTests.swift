import Foundation
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

  @Test func readsWhatWasWrittenUnderTheNameOfItsDigest() throws {
    #expect(try store.write(abc) == abcReference)
    #expect(try store.read(abcReference) == abc)
    #expect(try store.contains(abcReference))
    #expect(try store.references() == [abcReference])
    #expect(try directory.file("photos/blobs").mode == 0o700)
    #expect(try directory.file("photos/blobs/\(abcReference)").mode == 0o600)
  }

  @Test func keepsEqualValuesOnce() throws {
    #expect(try store.write(abc) == store.write(abc))
    #expect(try store.references().count == 1)
  }

  @Test func keepsAnEmptyValue() throws {
    #expect(try store.read(store.write(Data())) == Data())
  }

  @Test func movesWithItsDirectory() throws {
    let reference = try store.write(abc)
    let moved = directory.url.appending(path: "moved")
    try FileManager.default.moveItem(at: store.directory, to: moved)
    #expect(try BlobStore(directory: moved).read(reference) == abc)
    #expect(code { _ = try store.read(reference) } == .notFound)
  }

  @Test func saysThatABlobIsDamagedAndWritesItAnew() throws {
    let reference = try store.write(abc)
    try Data("abd".utf8).write(to: store.directory.appending(path: reference))
    #expect(code { _ = try store.read(reference) } == .damaged)
    #expect(try store.write(abc) == reference)
    #expect(try store.read(reference) == abc)
  }

  @Test(arguments: [
    "", "..", "../secret", "/etc/passwd", "abc",
    "BA7816BF8F01CFEA414140DE5DAE2223B00361A396177A9CB410FF61F20015AD",
    "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad/",
    "/a7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  ])
  func takesNothingButAReference(text: String) throws {
    #expect(code { _ = try store.read(text) } == .invalidName)
    #expect(code { _ = try store.contains(text) } == .invalidName)
    #expect(code { try store.remove(text) } == .invalidName)
  }

  @Test func removesOneBlob() throws {
    let reference = try store.write(abc)
    try store.remove(reference)
    try store.remove(reference)
    #expect(code { _ = try store.read(reference) } == .notFound)
  }

  @Test func sweepsWhatNothingRefersTo() throws {
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
  @Test func whatASweepLeavesIsNoLeftover() throws {
    let reference = try store.write(abc)
    let planted = store.directory.appending(path: String(repeating: "a", count: 64))
    try FileManager.default.createDirectory(at: planted, withIntermediateDirectories: false)
    #expect(try !store.hasLeftovers(keeping: [reference]))
    #expect(try store.hasLeftovers(keeping: []))
    #expect(try store.sweep(keeping: []) == 1)
    #expect(try !store.hasLeftovers(keeping: []))
    #expect(FileManager.default.fileExists(atPath: planted.filePath))
  }

  @Test func sparesABlobThatWasWrittenAgainLately() throws {
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

  @Test func everyStepOfAWriteMayBeItsLast() throws {
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
  func aFullDiskIsAnErrorAndHarmsNoBlob() throws {
    let disk = try SmallDisk()
    let store = BlobStore(directory: disk.directory.url.appending(path: "blobs"))
    let reference = try store.write(abc)
    try disk.fill(leaving: 8192)
    #expect(code { _ = try store.write(Data(count: 100_000)) } == .noSpace)
    #expect(try store.references() == [reference])
    #expect(try store.read(reference) == abc)
  }
}

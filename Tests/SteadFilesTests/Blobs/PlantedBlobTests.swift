import Foundation
import SteadEncoding
import SteadTestSupport
import Testing

@testable import SteadFiles

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
  func aWriteReplacesWhatIsntAFile(entry: PlantedEntry, wasWritten: Bool) throws {
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
  func whatIsntAFileIsADamagedBlobAndGoesAlone(entry: PlantedEntry) throws {
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
  @Test func aLinkToAnEqualFileIsntTheBlob() throws {
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

  @Test func theBlobsDirectoryMayBeALink() throws {
    let elsewhere = place.file("elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      at: store.directory, withDestinationURL: elsewhere)
    let reference = try store.write(value)
    #expect(try store.read(reference) == value)
    #expect(try isFile(elsewhere.file(reference)))
  }
}

import Foundation
import SteadEncoding
import SteadRecords
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadTransfer

@Suite struct RecordFilesTests {
  let directory: TemporaryDirectory
  let container: ModelContainer
  let images: URL

  init() throws {
    directory = try TemporaryDirectory()
    container = try .records(at: directory.file("notes.store"))
    images = directory.url.appending(path: "media", directoryHint: .isDirectory)
  }

  private var destination: FileDestination<NotePhoto> {
    get throws {
      try FileDestination(container, in: images, folder: "images", path: \NotePhoto.path)
    }
  }

  private func transfer() throws -> Transfer<
    RecordData, RecordFile<NotePhoto>
  > {
    Transfer(
      "images", from: try .data(of: \NotePhoto.image, in: container),
      to: try .files(in: images, folder: "images", path: \NotePhoto.path, of: container)
    ) { RecordFile($0.data, extension: "jpg", of: $0.identifier) }
  }

  private func fill(_ photos: [(String, Data?)]) throws {
    let context = ModelContext(container)
    for (title, image) in photos { context.insert(NotePhoto(title: title, image: image)) }
    try context.save()
  }

  /// Each photo's title and what the file at its path holds.
  private func stored() throws -> [String: Data?] {
    try Dictionary(
      uniqueKeysWithValues: container.all(NotePhoto.self).map { photo in
        (photo.title, try photo.path.map { try Data(contentsOf: images.appending(path: $0)) })
      })
  }

  private var files: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: images.appending(path: "images").path)
    }
  }

  static let small = Data("small".utf8)
  static let large = Data(repeating: 3, count: 400_000)

  @Test func `moves bytes from records to files of their own`() throws {
    try fill([
      ("a", Self.small), ("b", Self.large), ("c", nil), ("d", Self.small), ("e", Data()),
    ])
    let report = try transfer().run()
    #expect(report.read == 3 && report.moved == 3 && report.removed == 3)
    #expect(
      try stored() == ["a": Self.small, "b": Self.large, "c": nil, "d": Self.small, "e": nil])
    let paths = try container.all(NotePhoto.self).compactMap(\.path)
    #expect(Set(paths).count == 3)
    #expect(paths.allSatisfy { $0.hasPrefix("images/") && $0.hasSuffix(".jpg") })
    #expect(try container.all(NotePhoto.self).allSatisfy { $0.image?.isEmpty ?? true })
    let external = directory.file(".notes.store_external").path
    #expect(try FileManager.default.contentsOfDirectory(atPath: external).isEmpty)
    #expect(try transfer().run().moved == 0)
    #expect(try files.count == 3)
  }

  @Test func `tells contexts that are open`() throws {
    try fill([("a", Self.small)])
    let context = ModelContext(container)
    let photo = try #require(try context.fetch(FetchDescriptor<NotePhoto>()).first)
    #expect(photo.image == Self.small && photo.path == nil)
    try transfer().run()
    context.processPendingChanges()
    #expect(photo.image == nil && photo.path != nil)
  }

  /// A record whose file goes with it must not take another's.
  @Test func `gives equal bytes of a later run a file of their own`() throws {
    try fill([("a", Self.small)])
    try transfer().run()
    try fill([("b", Self.small)])
    #expect(try transfer().run().moved == 1)
    #expect(try files.count == 2)
    #expect(try Set(container.all(NotePhoto.self).compactMap(\.path)).count == 2)
    #expect(try stored() == ["a": Self.small, "b": Self.small])
  }

  @Test func `stays right when the directory moves`() throws {
    try fill([("a", Self.small)])
    try transfer().run()
    let path = try #require(try container.all(NotePhoto.self).first?.path)
    let moved = directory.url.appending(path: "moved", directoryHint: .isDirectory)
    try FileManager.default.moveItem(at: images, to: moved)
    #expect(try Data(contentsOf: moved.appending(path: path)) == Self.small)
  }

  @Test func `takes the files of a run that was cut off`() throws {
    struct Stop: Error {}
    try fill([("a", Self.small), ("b", Self.small), ("c", Self.large)])
    let elements = try ModelDataSource(container, \NotePhoto.image).read { _ in }.map {
      let value = try $0.value.get()
      return RecordFile<NotePhoto>(value.data, extension: "jpg", of: value.identifier)
    }
    #expect(throws: Stop.self) {
      try destination.write(ElementBatch(elements), .first(elements.count), { _ in }) { _ in
        throw Stop()
      }
    }
    let orphans = try files
    #expect(orphans.count == 3)
    #expect(try container.all(NotePhoto.self).allSatisfy { $0.path == nil })
    try transfer().run()
    #expect(try Set(files) == Set(orphans))
    #expect(try stored() == ["a": Self.small, "b": Self.small, "c": Self.large])
  }

  /// A run that was killed while it wrote a file left a second link to it for good.
  @Test func `clears the temporaries of a run that was killed`() throws {
    try fill([("a", Self.small)])
    let folder = images.appending(path: "images")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Self.large.write(to: folder.appending(path: ".0123.jpg.stead-0"))
    try transfer().run()
    let path = try #require(try container.all(NotePhoto.self).first?.path)
    #expect(try files == [URL(filePath: path).lastPathComponent])
  }

  @Test func `saves new records with their files`() throws {
    let photos = [NotePhoto(title: "a"), NotePhoto(title: "b")]
    let placements = try move(
      photos.map { RecordFile(Self.small, of: $0) }, to: destination)
    #expect(try stored() == ["a": Self.small, "b": Self.small])
    #expect(try destination.verify(placements) { _ in } == [])
    try sqlite(directory.file("notes.store"), "UPDATE NotePhoto SET title = 'x' WHERE title = 'a'")
    #expect(try destination.verify(placements) { _ in } == [placements[0]])
  }

  @Test func `notices a file or a path that is not as it was written`() throws {
    try fill([("a", Self.small), ("b", Self.large), ("c", Data([1]))])
    let elements = try ModelDataSource(container, \NotePhoto.image).read { _ in }.map {
      let value = try $0.value.get()
      return RecordFile<NotePhoto>(value.data, of: value.identifier)
    }
    let placements = try move(elements, to: destination)
    #expect(try destination.verify(placements) { _ in } == [])
    let paths = try container.all(NotePhoto.self).compactMap(\.path)
    try Data("other".utf8).write(to: images.appending(path: paths[0]))
    try FileManager.default.removeItem(at: images.appending(path: paths[1]))
    try sqlite(directory.file("notes.store"), "UPDATE NotePhoto SET path = 'x' WHERE title = 'c'")
    #expect(try destination.verify(placements) { _ in } == placements)
  }

  @Test func `refuses a record that has a path already`() throws {
    try fill([("a", Self.small), ("b", Self.small)])
    try sqlite(directory.file("notes.store"), "UPDATE NotePhoto SET path = 'x' WHERE title = 'b'")
    let error = #expect(throws: TransferError.self) { try transfer().run() }
    #expect(
      error?.code == .conflict && error?.failures.map(\.item) == ["NotePhoto.image of NotePhoto 2"])
    #expect(try container.all(NotePhoto.self).compactMap(\.path) == ["x"])
    #expect(try container.all(NotePhoto.self).allSatisfy { $0.image == Self.small })
  }

  @Test func `keeps bytes that changed since they were moved`() throws {
    try fill([("a", Self.small), ("b", Self.large)])
    let source = try ModelDataSource(container, \NotePhoto.image)
    let entries = try source.read { _ in }.map {
      TransferReceipt.Entry(identity: $0.identity, placement: .init(location: "", digest: ""))
    }
    try sqlite(
      directory.file("notes.store"), "UPDATE NotePhoto SET image = x'01' WHERE title = 'a'")
    #expect(try source.remove(entries) == 1)
    let images = try container.all(NotePhoto.self).map { ($0.title, $0.image) }
    #expect(images.first { $0.0 == "a" }?.1 == Data([1]))
    #expect(images.first { $0.0 == "b" }?.1 == nil)
    #expect(try source.remove(entries) == 0)
  }

  @Test(arguments: ["..", "a/../b", "/etc", "a//b", ".", "a/", "a\u{0}b"])
  func `refuses a folder outside of the directory`(folder: String) throws {
    let error = #expect(throws: TransferError.self) {
      _ = try FileDestination(
        container, in: images, folder: folder, path: \NotePhoto.path)
    }
    #expect(error?.code == .unsupported)
  }

  @Test func `refuses an extension that is a path and a link on the way`() throws {
    let error = #expect(throws: TransferError.self) {
      try move(
        [RecordFile(Self.small, extension: "/../../x", of: NotePhoto(title: "a"))], to: destination)
    }
    #expect(error?.code == .unsupported)
    let elsewhere = directory.file("elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createDirectory(at: images, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      at: images.appending(path: "images"), withDestinationURL: elsewhere)
    #expect(throws: TransferError.self) {
      try move([RecordFile(Self.small, of: NotePhoto(title: "a"))], to: destination)
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
    #expect(try container.count(NotePhoto.self) == 0)
  }

  /// A receipt may be forged or damaged; a place in it leads nowhere else.
  @Test(arguments: ["../secret", "images/../../secret", "images/link"])
  func `reads nothing outside of the directory`(path: String) throws {
    try fill([("a", nil)])
    try FileManager.default.createDirectory(
      at: images.appending(path: "images"), withIntermediateDirectories: true)
    let secret = directory.file("secret")
    try Self.small.write(to: secret)
    try FileManager.default.createSymbolicLink(
      at: images.appending(path: "images/link"), withDestinationURL: secret)
    let rows = try #require(StoreRows(container))
    try rows.write {
      let shape = try #require($0.rows.shapes["NotePhoto"])
      #expect(try $0.set("path", of: 1, in: shape, to: .text(path), from: [.null]))
    }
    var digest = RowDigest()
    digest.add(path, .text(SHA256.hexadecimal(Self.small)))
    let placement = TransferPlacement(
      location: "NotePhoto/1=\(path)", digest: digest.text)
    #expect(try destination.verify([placement]) { _ in } == [placement])
  }

  @Test func `refuses a key path that is not a stored property`() throws {
    #expect(throws: TransferError.self) {
      _ = try ModelDataSource(container, \NotePhoto.preview)
    }
    #expect(throws: TransferError.self) {
      _ = try ModelDataSource(ModelContainer.library(), \NotePhoto.image)
    }
  }
}

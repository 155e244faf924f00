import Foundation
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// A store that came from elsewhere had a symbolic link with the name of a large value. A save replaced what it led to.
@Suite struct PlantedValueTests {
  private let target: PlantedTarget

  init() throws { target = try PlantedTarget() }

  /// A store with one large value, and the path of its file.
  private func store() throws -> (store: UpkeepStore, file: URL) {
    let store = try UpkeepStore()
    let names = try FileManager.default.contentsOfDirectory(atPath: store.files.path)
    return (store, store.files.file(try #require(names.first)))
  }

  private func isFile(_ url: URL) throws -> Bool {
    try FileManager.default.attributesOfItem(atPath: url.path)[.type] as? FileAttributeType
      == .typeRegular
  }

  @Test(arguments: PlantedEntry.allCases, [false, true])
  func `a save writes a value to no other place`(entry: PlantedEntry, isNamed: Bool) throws {
    let (store, file) = try store()
    if !isNamed {
      let context = store.store.context()
      context.delete(try context.only(Headline.self))
      try context.save()
    }
    try target.plant(entry, at: file)
    let context = store.store.context()
    let twin = Headline(title: "twin")
    twin.picture = UpkeepStore.picture
    context.insert(twin)
    if entry == .directory {
      #expect(throws: SwiftDataError.self) { try context.save() }
    } else {
      try context.save()
      #expect(try isFile(file))
      #expect(try store.container.check().problems.isEmpty)
      let pictures = try store.store.reopened().fetch(FetchDescriptor<Headline>()).map(\.picture)
      #expect(pictures.allSatisfy { $0 == UpkeepStore.picture })
    }
    #expect(try target.isUntouched)
  }

  @Test(arguments: PlantedEntry.allCases)
  func `check names what is no file, and deletion and compact leave what it leads to`(
    entry: PlantedEntry
  ) throws {
    let (store, file) = try store()
    try target.plant(entry, at: file)
    #expect(try store.container.check().problems.map(\.kind) == [.damagedFile])
    let context = store.store.context()
    context.delete(try context.only(Headline.self))
    try context.save()
    try store.container.compact()
    #expect(try target.isUntouched)
    #expect(FileManager.default.fileExists(atPath: file.path) == (entry == .directory))
    // It said that `compact()` removes the directory.
    #expect(try store.container.check().problems.isEmpty)
  }

  @Test(arguments: PlantedEntry.allCases)
  func `a backup leaves out what is no file, and writes to no other place`(
    entry: PlantedEntry
  ) throws {
    let (store, file) = try store()
    let directory = try TestFiles.directory()
    // In the store, and in the directory that the backup's values go to.
    let copied = directory.file(".a.store_external").file(file.lastPathComponent)
    try target.plant(entry, at: copied)
    if entry == .directory {
      #expect(throws: (any Error).self) {
        try store.container.backUp(to: directory.file("a.store"))
      }
    } else {
      try store.container.backUp(to: directory.file("a.store"))
      #expect(try isFile(copied))
    }
    try target.plant(entry, at: file)
    try store.container.backUp(to: directory.file("b.store"))
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
    #expect(names.contains("b.store"))
    #expect(!names.contains(".b.store_external"))
    #expect(try target.isUntouched)
  }

  /// The names that a migration gives a directory of large values.
  @Test(arguments: PlantedEntry.allCases, ["", ".migrating", ".backup-new", ".backup"])
  func `a migration writes values to no other place`(entry: PlantedEntry, copy: String) throws {
    let file = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: file.url, codes: 4, labels: 3)
    let own = file.directory.file(".test.store_external")
    let name = try #require(FileManager.default.contentsOfDirectory(atPath: own.path).min())
    try target.plant(entry, at: file.directory.file(".test.store\(copy)_external").file(name))
    let container = try? ParcelPlan.open(file.url)
    #expect((container == nil) == (entry == .directory && copy == ".backup"))
    #expect(try target.isUntouched)
    guard let container, !copy.isEmpty else { return }
    #expect(try container.check().problems.isEmpty)
    let backup = file.directory.file(".test.store.backup_external")
    #expect(try FileManager.default.contentsOfDirectory(atPath: backup.path).count == 3)
    #expect(try isFile(backup.file(name)))
  }

  @Test(arguments: [PlantedEntry.linkToDirectory, .danglingLink], ["", ".migrating", ".backup"])
  func `a migration follows a link to the store's own directory alone`(
    entry: PlantedEntry, copy: String
  ) throws {
    let file = try RecordsTestSupport.StoreFile()
    try ParcelPlan.makeStore(at: file.url, codes: 4, labels: 3)
    let own = file.directory.file(".test.store_external")
    if copy.isEmpty {
      // As a user does who needs room.
      let elsewhere = file.directory.file("elsewhere")
      try FileManager.default.moveItem(at: own, to: elsewhere)
      try FileManager.default.createSymbolicLink(at: own, withDestinationURL: elsewhere)
    } else {
      try target.plant(entry, at: file.directory.file(".test.store\(copy)_external"))
    }
    if copy == ".backup" {
      let error = #expect(throws: SwiftDataError.self) { try ParcelPlan.open(file.url) }
      #expect(error?.code == .fileExists)
      try FileManager.default.removeItem(at: file.directory.file(".test.store.backup_external"))
    }
    #expect(try ParcelPlan.open(file.url).check().problems.isEmpty)
    #expect(try target.isUntouched)
  }

  @Test(arguments: [PlantedEntry.linkToDirectory, .danglingLink])
  func `a backup's directory of values is no link`(entry: PlantedEntry) throws {
    let (store, _) = try store()
    let directory = try TestFiles.directory()
    try target.plant(entry, at: directory.file(".a.store_external"))
    let error = #expect(throws: SwiftDataError.self) {
      try store.container.backUp(to: directory.file("a.store"))
    }
    #expect(error?.code == .fileExists)
    #expect(try target.isUntouched)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).count == 1)
  }
}

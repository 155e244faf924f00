import Foundation
import RecordsTestSupport
import SteadSQLite
import SwiftData
import Testing

/// An optional large value whose file could not be read was empty data, which code that tests for nil took for a value.
@Suite("Large values whose files cannot be read") struct LostFileTests {
  enum Loss: CaseIterable { case missing, damaged, noName }

  @Test(arguments: Loss.allCases)
  func `a large value whose file cannot be read is nil, or empty if it is required`(
    loss: Loss
  ) throws {
    let store = try TestStore(.file, Picture.self)
    let writer = store.context()
    let picture = Picture(title: "a", image: Data(repeating: 1, count: 150_000))
    picture.thumbnail = Data(repeating: 2, count: 150_000)
    writer.insert(picture)
    try writer.save()
    let connection = try SQLiteConnection.foreign(store.url)
    let directory = store.directory.appending(path: ".test.store_external")
    for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
      let file = directory.appending(path: name)
      switch loss {
      case .missing: try FileManager.default.removeItem(at: file)
      case .damaged: try Data("other".utf8).write(to: file)
      case .noName: break
      }
    }
    if loss == .noName {
      try connection.execute("UPDATE Picture SET image = 'no name', thumbnail = 'no name'")
    }
    let stored = try connection.rows("SELECT image, thumbnail FROM Picture", [])
    let context = try store.reopened()
    let read = try context.only(Picture.self)
    #expect(read.image == nil)
    #expect(read.thumbnail == Data())
    read.title = "changed"
    try context.save()
    #expect(try connection.rows("SELECT image, thumbnail FROM Picture", []) == stored)
    #expect(try store.reopened().only(Picture.self).title == "changed")
  }
}

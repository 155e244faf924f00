import Foundation
import SwiftData
import Testing

@testable import SteadRecords

struct LogNameTests {
  /// A stage that changed many tables while the objects of an earlier one were read ended with "don't belong together".
  @Test func `a migration's copy may have a log whose names are the store's`() throws {
    let store = try TestStore(Club.self, Member.self, Skill.self)
    let context = store.context()
    context.insert(Member(name: "Ann"))
    try context.save()
    let configuration = ModelConfiguration(url: store.url)
    let copy = StoreCopy(of: configuration, at: store.directory.appending(path: "copy"))
    try copy.make(from: StoreFile(configuration))
    let writer = try copy.file.open(writable: true)
    let reader = try copy.file.open(writable: false)
    try reader.begin()
    let version = try reader.tablesVersion()
    let named = try #require(reader.logNames().first)
    #expect(named.version > version)
    for number in version..<named.version {
      try writer.execute("CREATE TABLE other\(number) (value)")
    }
    #expect(try !writer.checkpoint(.full, busyTimeout: 0))
    try copy.file.check()
  }

  @Test func `the names of a log are limited, and changed tables have a new one`() throws {
    let store = try TestStore(Club.self, Member.self, Skill.self)
    let connection = try StoreFile(ModelConfiguration(url: store.url)).open(writable: true)
    try connection.beginImmediate()
    defer { try? connection.execute("ROLLBACK") }
    let oldest = try #require(connection.logNames().last)
    for _ in 0...LogName.limit { _ = try connection.addLogName() }
    let names = try connection.logNames()
    #expect(names.count == LogName.limit)
    // A file may still have it.
    #expect(names.last?.word == oldest.word)
    var newest = names[0]
    newest.version = 7
    try connection.writeLogNames(from: newest)
    #expect(try connection.logNames().map(\.text) == ["\(newest.word).7"])
    for _ in 0..<2 { try connection.nameChangedTables() }
    let changed = try connection.logNames()
    #expect(changed.map(\.hasVersion) == [false, true])
    #expect(changed.last?.word == newest.word)
  }
}

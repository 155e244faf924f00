import Foundation
import SwiftData
import Testing

@testable import SteadRecords

struct LogNameTests {
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

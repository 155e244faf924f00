import Foundation
import RecordsTestSupport
import SwiftData
import Testing

/// The file of the schemas that were shipped.
@Suite struct SchemaLockTests {
  private let url: URL

  init() throws { url = try TestFiles.directory().appending(path: "schema.lock.json") }

  private func message(_ plan: any SchemaMigrationPlan.Type) throws -> String {
    try #require(throws: SwiftDataError.unknownSchema) {
      try SchemaLock.check(plan, against: url)
    }.message
  }

  @Test func `recorded versions are as they were`() throws {
    try SchemaLock.record(NotesPlan.self, in: url)
    let bytes = try Data(contentsOf: url)
    #expect(try SchemaLock(contentsOf: url).versions.map { "\($0.version)" } == ["1.0.0", "2.0.0"])
    try SchemaLock.check(NotesPlan.self, against: url)
    // A version in the making is not recorded.
    try SchemaLock.check(LongPlan.self, against: url)
    try SchemaLock.record(NotesPlan.self, in: url)
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test func `an edited version is told`() throws {
    try SchemaLock.record(NotesPlan.self, in: url)
    let bytes = try Data(contentsOf: url)
    let message = try message(EditedPlan.self)
    #expect(message.contains("EditedNotesV1, version 1.0.0, was shipped and then edited"))
    #expect(message.contains("Note.color") && !message.contains("NotesV2"))
    #expect(throws: SwiftDataError.unknownSchema) {
      try SchemaLock.record(EditedPlan.self, in: url)
    }
    #expect(try Data(contentsOf: url) == bytes)
  }

  @Test func `versions that are missing are told`() throws {
    try SchemaLock.record(LongPlan.self, in: url)
    #expect(
      try message(NotesPlan.self).contains("Version 3.0.0 was shipped and is not in the plan"))
    try SchemaLock().write(to: url)
    #expect(try message(NotesPlan.self).contains("NotesV1, version 1.0.0, is not recorded"))
  }

  enum Absence: CaseIterable { case file, directory, isDirectory, isEmpty, isText }

  /// The error for a missing file was Foundation's, which says that a file doesn't exist, and not what to do.
  @Test(arguments: Absence.allCases)
  func `a lock that is not there says which file and what to do`(
    absence: Absence
  ) throws {
    var url = url
    switch absence {
    case .file: break
    case .directory: url = url.appending(path: "missing.json")
    case .isDirectory:
      try FileManager.default.createDirectory(at: url, withIntermediateDirectories: false)
    case .isEmpty: try Data().write(to: url)
    case .isText: try Data("versions".utf8).write(to: url)
    }
    for isCheck in [true, false] {
      let error = try #require(throws: SwiftDataError.unknownSchema) {
        if isCheck {
          try SchemaLock.check(NotesPlan.self, against: url)
        } else {
          _ = try SchemaLock(contentsOf: url)
        }
      }
      #expect(error.message.hasPrefix(url.path(percentEncoded: false)), "\(error)")
      let remedy =
        switch absence {
        case .file, .directory:
          isCheck ? "SchemaLock.record(NotesPlan.self, in: url)" : "SchemaLock.record("
        case .isDirectory: "a file that this user may read"
        case .isEmpty, .isText: "Restore it from version control"
        }
      #expect(error.message.contains(remedy), "\(error)")
    }
  }

  @Test func `what is no lock is left as it is`() throws {
    for text in ["{", "[]", #"{"format":1}"#, #"{"format":2,"versions":[]}"#] {
      try Data(text.utf8).write(to: url)
      #expect(throws: SwiftDataError.unknownSchema, "\(text)") {
        try SchemaLock.record(NotesPlan.self, in: url)
      }
      #expect(try Data(contentsOf: url) == Data(text.utf8))
    }
  }
}

import Foundation
import SteadPreferences
import SwiftData

@testable import SteadTransfer

/// A transfer of texts from the domain `old`, or a history of it, to another store in the same directory.
///
/// Each text goes to a place that no other text has, so that one which is moved twice is there twice.
struct Workload {
  enum Name: String {
    /// From the elements of an array to keys of the domain `new`.
    case preferences
    /// From the elements of an array to records of a store.
    case records
    /// From the entries of a history to records of a store.
    case history
    /// From the rows of a table to records of a store, in chunks of three.
    case table
  }

  private struct Row: Decodable, Sendable { let text: String }

  let name: Name
  let directory: URL

  func run(_ progress: @escaping TransferProgress.Report) throws -> TransferReport {
    let old = try open("old")
    let source = TransferSource.preference("drafts", of: String.self, in: old)
    switch name {
    case .preferences:
      return try Transfer("drafts", from: source, to: .preferences(try open("new"))) { text in
        PreferenceEntry(key: "draft.\(UUID().uuidString)", value: .string(text))
      }.run(progress)
    case .records:
      return try Transfer("drafts", from: source, to: .records(try container())) { text in
        Draft(content: text)
      }.run(progress)
    case .history:
      let history = try PayloadHistory<Note>("notes", limit: Note.limit, in: old)
      return try Transfer("notes", from: .history(history), to: .records(try container())) { note in
        Draft(content: note.text)
      }.run(progress)
    case .table:
      let table = directory.appending(path: "drafts.csv", directoryHint: .notDirectory)
      var transfer = Transfer(
        "table", from: .csv(table, of: Row.self, removesItems: true), to: .records(try container())
      ) { Draft(content: $0.text) }
      transfer.limit.count = 3
      return try transfer.run(progress)
    }
  }

  /// The texts that are in the destination, as often as they are there.
  func moved() throws -> [String] {
    switch name {
    case .preferences:
      let new = try open("new")
      return new.keys.filter { $0.hasPrefix("draft.") }.compactMap { new.string(forKey: $0) }
    case .records, .history, .table:
      let container = try container()
      return try ModelContext(container).fetch(FetchDescriptor<Draft>()).map(\.content)
    }
  }

  private func open(_ domain: String) throws -> Preferences {
    try Preferences(
      domain: domain, directory: directory,
      environment: Preferences.Environment(
        appID: domain, variables: ["HOME": directory.path(percentEncoded: false)]))
  }

  private func container() throws -> ModelContainer {
    let store = directory.appending(path: "drafts.store", directoryHint: .notDirectory)
    return try ModelContainer(for: Draft.self, configurations: ModelConfiguration(url: store))
  }
}

import Foundation
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing

@testable import SteadRecords

/// A store on which two containers and plain SQL write by turns, and what its history should then be.
final class HistorySequence {
  /// A transaction as the reference has it.
  struct Expected {
    let number: Int64
    let author: String?
    let summary: [String]
  }

  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  private let store: TestStore
  private let contexts: [ModelContext]
  private let foreign: SQLiteConnection
  private var random = SplitMix(seed: 0)
  private var counter = 0
  private var isAudited = false
  private var number: Int64 = 0
  /// The last transaction that was deleted.
  private var deleted: Int64 = 0
  private(set) var expected: [Expected] = []

  init() throws {
    store = try TestStore.voyages()
    let (schema, url) = (store.schema, store.url)
    contexts = try (0..<2).map { _ in
      ModelContext(try ModelContainer(for: schema, configurations: ModelConfiguration(url: url)))
    }
    foreign = try SQLiteConnection.foreign(store.url)
    try foreign.execute("CREATE TABLE audit (title TEXT)")
  }

  /// Does some random things, each of which is compared with the reference.
  func run(seed: UInt64, length: Int) throws {
    random = SplitMix(seed: seed)
    for _ in 0..<length {
      switch pick(20) {
      case 0..<11: try save(contexts[pick(2)])
      case 11: try deleteLabels(contexts[pick(2)])
      case 12..<16: try writeSQL()
      case 16: try toggleAudit()
      case 17: try deleteHistory()
      default: try compareSome()
      }
    }
    try compareAll()
  }

  private func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }

  private func next() -> Int {
    counter += 1
    return counter
  }

  private func expect(_ author: String?, _ summary: [String]) {
    number += 1
    if !summary.isEmpty {
      expected.append(Expected(number: number, author: author, summary: summary.sorted()))
    }
  }

  // MARK: Writers

  private func save(_ context: ModelContext) throws {
    context.author = ["app", "widget", nil][pick(3)]
    var inserted: [any PersistentModel] = []
    var updated: [String: Set<String>] = [:]
    var gone: [String: String] = [:]
    func name(_ model: any PersistentModel) -> String {
      "\(model.persistentModelID.entityName)/\(model.persistentModelID.row)"
    }
    for _ in 0..<(1 + pick(4)) {
      switch pick(8) {
      case 0:
        inserted.append(Voyage(code: "v\(next())", name: "It's \"\(counter)\"\n\\"))
      case 1: inserted.append(Harbor(place: "h\(next())"))
      case 2: inserted.append(Label(title: "l\(next())"))
      case 3:
        guard let voyage = try context.all(Voyage.self).randomElement(using: &random) else { break }
        voyage.note = "n\(next())"
        updated[name(voyage), default: []].insert("note")
      case 4:
        guard let harbor = try context.all(Harbor.self).randomElement(using: &random) else { break }
        harbor.days = next()
        updated[name(harbor), default: []].insert("days")
      case 5:
        let harbors = try context.all(Harbor.self).filter { $0.voyage == nil }
        guard let harbor = harbors.randomElement(using: &random),
          let voyage = try context.all(Voyage.self).randomElement(using: &random)
        else { break }
        harbor.voyage = voyage
        updated[name(harbor), default: []].insert("voyage")
      case 6:
        guard let voyage = try context.all(Voyage.self).randomElement(using: &random) else { break }
        gone[name(voyage)] = " \(voyage.name)"
        for harbor in voyage.harbors { gone[name(harbor)] = "" }
        context.delete(voyage)
      default:
        guard let label = try context.all(Label.self).randomElement(using: &random) else { break }
        gone[name(label)] = ""
        context.delete(label)
      }
    }
    for model in inserted { context.insertAny(model) }
    let changes = context.hasChanges
    try context.save()
    guard changes else { return }
    let updates = updated.filter { gone[$0.key] == nil }.map {
      "~\($0.key) \($0.value.sorted().joined(separator: ","))"
    }
    expect(
      context.author,
      inserted.map { "+\(name($0))" } + updates + gone.map { "-\($0.key)\($0.value)" })
  }

  private func deleteLabels(_ context: ModelContext) throws {
    context.author = "cleaner"
    let labels = try context.all(Label.self).map(\.persistentModelID.row)
    try context.delete(model: Label.self)
    if !labels.isEmpty { expect("cleaner", labels.map { "-Label/\($0)" }) }
  }

  private func writeSQL() throws {
    let isRolledBack = pick(5) == 0
    var noted: [String] = []
    try foreign.execute("BEGIN IMMEDIATE")
    for _ in 0..<(1 + pick(3)) {
      let row = try foreign.integer("SELECT _id FROM Harbor ORDER BY random() LIMIT 1")
      switch pick(4) {
      case 0:
        try foreign.execute("INSERT INTO Label (title) VALUES ('\(next())')")
        noted.append("+Label/\(try foreign.integer("SELECT last_insert_rowid()") ?? 0)")
      case 1:
        guard let row else { break }
        try foreign.execute(
          "UPDATE Harbor SET days = \(next()), place = 'p\(counter)' WHERE _id = \(row)")
        noted.append("~Harbor/\(row) days,place")
      case 2:
        guard let row else { break }
        try foreign.execute("UPDATE Harbor SET place = place WHERE _id = \(row)")
      default:
        guard let row else { break }
        try foreign.execute("DELETE FROM Harbor WHERE _id = \(row)")
        noted.append("-Harbor/\(row)")
      }
    }
    try foreign.execute(isRolledBack ? "ROLLBACK" : "COMMIT")
    if !isRolledBack { for note in noted { expect(nil, [note]) } }
  }

  /// A user's trigger, with which the library's own saves are recorded by triggers, too.
  private func toggleAudit() throws {
    isAudited.toggle()
    try foreign.execute(
      isAudited
        ? "CREATE TRIGGER audited AFTER INSERT ON Label BEGIN INSERT INTO audit VALUES (new.title); END"
        : "DROP TRIGGER audited")
  }

  private func deleteHistory() throws {
    guard let limit = expected.randomElement(using: &random)?.number else { return }
    let history = try contexts[0].fetchHistory(Transactions())
    guard let token = history.first(where: { $0.transactionIdentifier == limit })?.token else {
      throw Divergence(description: "Transaction \(limit) is missing.")
    }
    try contexts[pick(2)].deleteHistory(Transactions(predicate: #Predicate { $0.token <= token }))
    expected.removeAll { $0.number <= limit }
    deleted = limit
  }

  // MARK: Comparison

  private func compareAll() throws {
    try compare(try contexts[pick(2)].fetchHistory(Transactions()), expected)
  }

  private func compareSome() throws {
    let context = contexts[pick(2)]
    guard let place = expected.indices.randomElement(using: &random) else { return }
    let from = expected[place].number
    let token = DefaultHistoryToken(
      store: try context.fetchHistory(Transactions()).first?.storeIdentifier ?? "", number: from)
    let author = ["app", "widget"][pick(2)]
    var descriptor = Transactions(
      predicate: #Predicate { $0.token > token && $0.author != author })
    let later = expected.filter { $0.number > from && $0.author != author }
    try compare(try context.fetchHistory(descriptor), later)
    descriptor.fetchLimit = 1
    descriptor.sortBy = [SortDescriptor(\.token, order: .reverse)]
    try compare(try context.fetchHistory(descriptor), later.suffix(1))
    guard deleted > 1 else { return }
    let old = DefaultHistoryToken(["\(token.tokenValue?.keys.first ?? "")": deleted - 1])
    do {
      _ = try context.fetchHistory(Transactions(predicate: #Predicate { $0.token > old }))
      throw Divergence(description: "A token before \(deleted) has not expired.")
    } catch SwiftDataError.historyTokenExpired {}
  }

  private func compare(
    _ found: [DefaultHistoryTransaction], _ expected: some Collection<Expected>
  ) throws {
    let found = found.map { transaction in
      let summary = transaction.summary.compactMap(Self.withoutLists)
      return "\(transaction.transactionIdentifier) \(transaction.author ?? "-") \(summary)"
    }
    let wanted = expected.map { "\($0.number) \($0.author ?? "-") \($0.summary)" }
    if found == wanted { return }
    let place = zip(found, wanted).enumerated().first { $1.0 != $1.1 }?.offset ?? 0
    throw Divergence(
      description:
        "\(found.count) transactions, not \(wanted.count). Found \(found.dropFirst(place).prefix(2)), "
        + "expected \(wanted.dropFirst(place).prefix(2))")
  }

  /// An update without the lists that changed with their members' references.
  private static func withoutLists(_ change: String) -> String? {
    guard change.hasPrefix("~"), let space = change.firstIndex(of: " ") else { return change }
    let names = change[change.index(after: space)...].split(separator: ",").filter {
      $0 != "harbors"
    }
    return names.isEmpty ? nil : "\(change[..<space]) \(names.joined(separator: ","))"
  }
}

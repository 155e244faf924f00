import Foundation
import SteadSQLite
import SteadTestSupport
import SwiftData
import Testing
import WorkerModels

@testable import SteadRecords

/// A store that this process, another one and plain SQL write by turns, beside the reference.
final class YardTrial {
  struct Divergence: Error, CustomStringConvertible {
    let description: String
  }

  let here: YardWriter
  let foreign: SQLiteConnection
  var reference: YardReference
  private let worker: WorkerProcess
  /// What was done, for who reads of a failure.
  private(set) var log: [String] = []
  private var counter = 0

  init(keepsOldValues: Bool, _ worker: WorkerProcess) throws {
    reference = YardReference(keepsOldValues: keepsOldValues)
    self.worker = worker
    let url = try StoreFile().url
    let opening = YardCommand.open(url.path, keepsOldValues: keepsOldValues)
    here = YardWriter()
    try here.perform(opening)
    foreign = try SQLiteConnection.foreign(url)
    try foreign.execute("CREATE TABLE audit (text TEXT)")
    try perform(opening, true)
  }

  private func perform(_ command: YardCommand, _ isOther: Bool) throws {
    log.append("\(isOther ? "other" : "here") \(command)")
    guard isOther else { return try here.perform(command) }
    let line = String(decoding: try JSONEncoder().encode(command), as: UTF8.self)
    guard worker.tell(line), let answer = worker.line(), answer == "done" else {
      throw Divergence(description: "The worker ended: \(worker.rest())")
    }
  }

  func execute(_ sql: String) throws {
    log.append(sql)
    try foreign.execute(sql)
  }

  func next() -> Int {
    counter += 1
    return counter
  }

  /// A string that needs escapes in SQL, JSON and both.
  func text() -> String { "It's \"\(next())\"\n\\" }

  // MARK: Steps

  func run(_ steps: [YardStep]) throws {
    for step in steps {
      switch step.kind {
      case .save: try save(step)
      case .deletePermits: try deletePermits(step)
      case .sql, .rollBack: try writeSQL(step)
      case .toggleTrigger: try toggleTrigger()
      case .deleteHistory: try deleteHistory(step)
      case .fetch: try compareSome(step)
      case .past: try comparePast(step)
      }
    }
  }

  private func author(_ step: YardStep) -> String? { ["app", "widget", nil][step.choice % 3] }

  private func process(_ step: YardStep) -> YardReference.Writer {
    step.isOther ? worker.id : getpid()
  }

  private func save(_ step: YardStep) throws {
    let before = reference.content
    var touched: [YardContent.Key: Set<String>] = [:]
    let edits = step.edits.compactMap { edit in
      let resolved = resolve(edit, before)
      if let resolved { reference.content.apply(resolved, touching: &touched) }
      return resolved
    }
    if edits.isEmpty { return }
    try perform(.save(author: author(step), edits), step.isOther)
    reference.content.takeRows(of: try YardContent(foreign))
    reference.commit(
      reference.changes(since: before, touched: touched), author: author(step),
      process: process(step))
    try compareContent()
  }

  private func deletePermits(_ step: YardStep) throws {
    let before = reference.content
    let limit = step.choice % (counter + 1)
    try perform(.deletePermits(author: author(step), below: limit), step.isOther)
    reference.content.permits = before.permits.filter { $0.key >= limit }
    if reference.content != before {
      reference.commit(
        reference.changes(since: before, touched: [:]), author: author(step),
        process: process(step))
    }
    try compareContent()
  }

  /// A user's trigger, with which the library's own saves are recorded by triggers, too.
  private func toggleTrigger() throws {
    reference.isAudited.toggle()
    try execute(
      reference.isAudited
        ? "CREATE TRIGGER audited AFTER INSERT ON Permit BEGIN INSERT INTO audit VALUES (new.text); END"
        : "DROP TRIGGER audited")
  }

  private func deleteHistory(_ step: YardStep) throws {
    guard !reference.transactions.isEmpty else { return }
    let last = reference.transactions[step.choice % reference.transactions.count].number
    try perform(.deleteHistory(upTo: last), step.isOther)
    reference.deleteHistory(upTo: last)
  }

  // MARK: Comparison

  private func compareContent() throws {
    guard try YardContent(foreign) == reference.content else {
      throw Divergence(
        description: "The store has \(try YardContent(foreign))\nand not \(reference.content)")
    }
  }

  private var identifier: String {
    get throws { try here.context.container.stores[0].identity.identifier }
  }

  func compareAll() throws {
    try compare(try here.context.fetchHistory(Transactions()), reference.transactions)
    try compareContent()
  }

  private func compareSome(_ step: YardStep) throws {
    guard !reference.transactions.isEmpty else { return }
    let from = reference.transactions[step.choice % reference.transactions.count].number
    let token = DefaultHistoryToken(store: try identifier, number: from)
    let author = ["app", "widget"][step.choice % 2]
    var descriptor = Transactions(predicate: #Predicate { $0.token > token && $0.author != author })
    let later = reference.transactions.filter { $0.number > from && $0.author != author }
    try compare(try here.context.fetchHistory(descriptor), later)
    descriptor.fetchLimit = 1
    descriptor.sortBy = [SortDescriptor(\.token, order: .reverse)]
    try compare(try here.context.fetchHistory(descriptor), later.suffix(1))
    guard reference.deleted > 1 else { return }
    let old = DefaultHistoryToken(store: try identifier, number: reference.deleted - 1)
    do {
      _ = try here.context.fetchHistory(Transactions(predicate: #Predicate { $0.token > old }))
      throw Divergence(description: "A token before \(reference.deleted) has not expired.")
    } catch SwiftDataError.historyTokenExpired {}
  }

  /// Opens the store as it was.
  private func comparePast(_ step: YardStep) throws {
    guard reference.keepsOldValues else { return }
    let number = Int64(step.choice) % (reference.number + 1)
    log.append("as of \(number)")
    let token = DefaultHistoryToken(store: try identifier, number: number)
    do {
      let past = ModelContext(try here.context.container.asOf(token))
      if number < reference.start { throw Divergence(description: "\(number) has not expired.") }
      let found = try YardContent(past)
      if found == reference.moments[number] { return }
      throw Divergence(
        description:
          "As of \(number) there was \(reference.moments[number] ?? .init())\nand not \(found)")
    } catch SwiftDataError.historyTokenExpired where number < reference.start {}
  }

  /// Takes the store back to some of its moments, and forward again.
  func compareRestored() throws {
    guard reference.keepsOldValues else { return }
    let (container, last) = (try here.context.container, reference.number)
    let step = max(1, (last - reference.start) / 5)
    // Plain SQL gives members no places, so that lists may be without an order.
    let before = try container.check().description
    for number in stride(from: reference.start, through: last, by: Int64.Stride(step)) {
      for goal in [number, last] {
        log.append("restore to \(goal)")
        try container.restore(
          to: DefaultHistoryToken(store: try identifier, number: goal))
        let found = try YardContent(foreign)
        guard found == reference.moments[goal] else {
          throw Divergence(
            description:
              "Restored to \(goal) there is \(found)\nand not \(reference.moments[goal] ?? .init())"
          )
        }
      }
    }
    let check = try container.check().description
    if check != before { throw Divergence(description: "\(check)\nand not \(before)") }
  }

  private func compare(
    _ found: [DefaultHistoryTransaction], _ expected: some Collection<YardReference.Transaction>
  ) throws {
    let found = found.map { transaction in
      // Triggers see the pairs of an object go before the object itself.
      let changes =
        reference.audited.contains(transaction.transactionIdentifier)
        ? transaction.changesOnce : transaction.changes
      return
        "\(transaction.transactionIdentifier) \(transaction.author ?? "-") "
        + "\(transaction.processIdentifier) \(changes.map(\.yardText).sorted())"
    }
    let wanted = expected.map {
      "\($0.number) \($0.author ?? "-") \($0.process.map { "\($0)" } ?? "") \($0.changes)"
    }
    if found == wanted { return }
    let place =
      zip(found, wanted).enumerated().first { $1.0 != $1.1 }?.offset
      ?? min(found.count, wanted.count)
    throw Divergence(
      description: "\(found.count) transactions, and \(wanted.count) expected. Found\n"
        + found.dropFirst(place).prefix(2).joined(separator: "\n") + "\nexpected\n"
        + wanted.dropFirst(place).prefix(2).joined(separator: "\n"))
  }
}

extension DefaultHistoryTransaction {
  /// The changes without updates of objects that the transaction inserts or deletes.
  fileprivate var changesOnce: [HistoryChange] {
    var others: Set<PersistentIdentifier> = []
    for change in changes where !change.isUpdate {
      others.insert(change.changedPersistentIdentifier)
    }
    return changes.filter { !$0.isUpdate || !others.contains($0.changedPersistentIdentifier) }
  }
}

extension HistoryChange {
  fileprivate var isUpdate: Bool { if case .update = self { true } else { false } }

  /// The change as the reference writes it.
  fileprivate var yardText: String {
    switch self {
    case .insert: "+\(object)"
    case .update(let change): updateText(change)
    case .delete(let change): deleteText(change)
    }
  }

  private var object: String {
    "\(changedPersistentIdentifier.entityName)/\(changedPersistentIdentifier.row)"
  }

  private func updateText<U: HistoryUpdate>(_ change: U) -> String {
    let old = (change as? DefaultHistoryUpdate<U.Model>)?.oldValues.map { " was \($0.text)" }
    return "~\(object) \(change.names.sorted().joined(separator: ","))\(old ?? "")"
  }

  private func deleteText<D: HistoryDelete>(_ change: D) -> String {
    let old = (change as? DefaultHistoryDelete<D.Model>)?.oldValues.map { " was \($0.text)" }
    return "-\(object) \(change.tombstone.text)\(old ?? "")"
  }
}

extension HistoryTombstone {
  /// The values in the order of their names.
  fileprivate var text: String {
    let found = Model.schemaMetadata.compactMap { property in
      (property.keypath as? PartialKeyPath<Model>).flatMap { self[$0] }.map {
        "\(property.name)=\(($0 as? PersistentIdentifier).map { "\($0.row)" } ?? "\($0)")"
      }
    }
    return found.sorted().joined(separator: ",")
  }
}

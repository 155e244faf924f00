import SteadSQLite
import WorkerModels

@testable import SteadRecords

extension YardTrial {
  /// What an edit's numbers mean now; nil where it needs an object that does not exist.
  ///
  /// - Parameter before: What there was before the save: only that is deleted.
  func resolve(_ edit: YardStep.Edit, _ before: YardContent) -> YardEdit? {
    let content = reference.content
    func choose<Value>(_ objects: [Int: Value], _ choice: Int) -> Int? {
      objects.isEmpty ? nil : objects.keys.sorted()[choice % objects.count]
    }
    func yard() -> Int? { choose(content.yards, edit.second) }
    let barrel = choose(content.barrels, edit.first)
    let seal = choose(content.seals, edit.second)
    let litres = edit.second % 4 == 0 ? nil : Double(next()) + 0.5
    switch edit.kind {
    case 0..<8: return .insertYard(next(), name: text())
    case 8..<22:
      return .insertBarrel(next(), litres: litres, yard: edit.first % 3 == 0 ? nil : yard())
    case 22..<28: return .insertSeal(next())
    case 28..<36: return .putPermit(next(), text: text())
    case 36..<40: return choose(content.permits, edit.first).map { .putPermit($0, text: text()) }
    case 40..<46: return yard().map { .setName($0, text()) }
    case 46..<50: return yard().map { .setNote($0, edit.first % 4 == 0 ? nil : text()) }
    case 50..<58: return barrel.map { .setLitres($0, litres) }
    case 58..<70:
      guard let barrel else { return nil }
      let target = edit.second % 5 == 0 ? nil : yard()
      if content.barrels[barrel]?.yard == target { return nil }
      if let target, edit.second % 2 == 0 { return .appendBarrel(yard: target, barrel) }
      return .setYard(barrel: barrel, target)
    case 70..<78:
      guard let barrel, let seal else { return nil }
      let pair = YardContent.Pair(barrel: barrel, seal: seal)
      // A pair changes once in a save: a trigger sees more than the difference.
      if before.pairs.contains(pair) || content.pairs.contains(pair) { return nil }
      return .addSeal(barrel: barrel, seal)
    case 78..<82:
      let pairs = content.pairs.intersection(before.pairs).sorted {
        ($0.barrel, $0.seal) < ($1.barrel, $1.seal)
      }
      guard !pairs.isEmpty else { return nil }
      let pair = pairs[edit.first % pairs.count]
      return .removeSeal(barrel: pair.barrel, pair.seal)
    case 82..<86: return choose(before.yards, edit.first).flatMap(deletion)
    case 86..<92:
      return choose(before.barrels, edit.first).flatMap {
        content.barrels[$0] == nil ? nil : .deleteBarrel($0)
      }
    case 92..<95:
      return choose(before.seals, edit.first).flatMap {
        content.seals[$0] == nil ? nil : .deleteSeal($0)
      }
    default:
      // Where the save has put another permit of that number, there are two until it is written.
      return choose(before.permits, edit.first).flatMap {
        content.permits[$0] == before.permits[$0] ? .deletePermit($0) : nil
      }
    }
  }

  private func deletion(ofYard number: Int) -> YardEdit? {
    reference.content.yards[number] == nil ? nil : .deleteYard(number)
  }

  // MARK: Plain SQL

  func writeSQL(_ step: YardStep) throws {
    let before = reference
    try execute("BEGIN IMMEDIATE")
    for edit in step.edits { try write(edit) }
    let isKept = step.kind == .sql
    try execute(isKept ? "COMMIT" : "ROLLBACK")
    if !isKept { reference = before }
  }

  private func key(_ entity: String, _ number: Int) -> YardContent.Key {
    YardContent.Key(entity: entity, number: number)
  }

  private func literal(_ text: String?) -> String {
    text.map { "'\($0.replacing("'", with: "''"))'" } ?? "NULL"
  }

  private func commit(_ changes: String) { reference.commit([changes]) }

  private func insertedRow() throws -> Int64 {
    try foreign.integer("SELECT last_insert_rowid()") ?? 0
  }

  /// Each row that a statement changes is a transaction.
  private func write(_ edit: YardStep.Edit) throws {
    let content = reference.content
    func choose<Value>(_ objects: [Int: Value], _ choice: Int) -> Int? {
      objects.isEmpty ? nil : objects.keys.sorted()[choice % objects.count]
    }
    let barrel = choose(content.barrels, edit.first)
    let permit = choose(content.permits, edit.first)
    switch edit.kind {
    case 0..<15: try insertBarrel(choose(content.yards, edit.second))
    case 15..<25: try insertPermit(next(), "INSERT")
    // The row that is replaced goes without a change of its own.
    case 25..<35: if let permit { try insertPermit(permit, "INSERT OR REPLACE") }
    case 35..<50:
      guard let barrel else { return }
      let yard = choose(content.yards, edit.second)
      if content.barrels[barrel]?.yard == yard { return }
      let row = yard.flatMap { content.yards[$0]?.row }
      let litres = Double(next())
      try execute(
        "UPDATE Barrel SET litres = \(litres), yard = \(row.map { "\($0)" } ?? "NULL") WHERE number = \(barrel)"
      )
      reference.content.barrels[barrel]?.litres = litres
      reference.content.barrels[barrel]?.yard = yard
      commit(reference.updated(key("Barrel", barrel), ["litres", "yard"], in: content))
    case 50..<60: try execute("UPDATE Yard SET name = name, note = note")
    case 60..<66: try updatePermits()
    case 66..<70: if let permit { try movePermit(permit) }
    case 70..<80:
      guard let barrel, !content.pairs.contains(where: { $0.barrel == barrel }) else { return }
      try execute("DELETE FROM Barrel WHERE number = \(barrel)")
      reference.content.barrels[barrel] = nil
      commit(reference.deleted(key("Barrel", barrel), in: content))
    case 80..<88:
      guard let permit else { return }
      try execute("DELETE FROM Permit WHERE number = \(permit)")
      reference.content.permits[permit] = nil
      commit(reference.deleted(key("Permit", permit), in: content))
    default:
      guard let barrel, let seal = choose(content.seals, edit.second) else { return }
      try togglePair(YardContent.Pair(barrel: barrel, seal: seal))
    }
  }

  private func insertBarrel(_ yard: Int?) throws {
    let number = next()
    let row = yard.flatMap { reference.content.yards[$0]?.row }
    try execute(
      "INSERT INTO Barrel (number, yard) VALUES (\(number), \(row.map { "\($0)" } ?? "NULL"))")
    reference.content.barrels[number] = YardContent.Barrel(row: try insertedRow(), yard: yard)
    commit(reference.inserted(key("Barrel", number)))
  }

  private func insertPermit(_ number: Int, _ verb: String) throws {
    let text = text()
    try execute("\(verb) INTO Permit (number, text) VALUES (\(number), \(literal(text)))")
    reference.content.permits[number] = YardContent.Permit(row: try insertedRow(), text: text)
    commit(reference.inserted(key("Permit", number)))
  }

  private func updatePermits() throws {
    try execute("UPDATE Permit SET text = text || '.'")
    let rows = reference.content.permits.sorted { $0.value.row < $1.value.row }
    for (number, permit) in rows {
      let before = reference.content
      reference.content.permits[number]?.text = permit.text + "."
      commit(reference.updated(key("Permit", number), ["text"], in: before))
    }
  }

  /// Gives a row another number, which no old values are known of.
  private func movePermit(_ number: Int) throws {
    let text = text()
    let row = (reference.content.permits.values.map(\.row).max() ?? 0) + 1
    try execute(
      "UPDATE Permit SET _id = \(row), text = \(literal(text)) WHERE number = \(number)")
    reference.content.permits[number] = YardContent.Permit(row: row, text: text)
    commit("~Permit/\(row) text")
  }

  /// A transaction for each side.
  private func togglePair(_ pair: YardContent.Pair) throws {
    let content = reference.content
    let (owner, target) = (content.barrels[pair.barrel]?.row ?? 0, content.seals[pair.seal] ?? 0)
    if reference.content.pairs.remove(pair) != nil {
      try execute("DELETE FROM Barrel_seals WHERE owner = \(owner) AND target = \(target)")
    } else {
      reference.content.pairs.insert(pair)
      try execute("INSERT INTO Barrel_seals (owner, target) VALUES (\(owner), \(target))")
    }
    commit(reference.updated(key("Barrel", pair.barrel), ["seals"], in: content))
    commit(reference.updated(key("Seal", pair.seal), ["barrels"], in: content))
  }
}

import WorkerModels

/// What the history of a store of yards should be: transactions as plain values.
struct YardReference {
  typealias Key = YardContent.Key

  /// Who writes: a process by its number, or plain SQL.
  typealias Writer = Int32

  struct Transaction {
    let number: Int64
    let author: String?
    let process: Writer?
    /// Each change as a string, sorted.
    let changes: [String]
  }

  let keepsOldValues: Bool
  /// Whether a user's trigger has the file's triggers write the history of saves, too.
  var isAudited = false
  /// The transactions of saves that triggers have recorded.
  private(set) var audited: Set<Int64> = []
  private(set) var number: Int64 = 0
  private(set) var transactions: [Transaction] = []
  /// The last transaction that was deleted.
  private(set) var deleted: Int64 = 0
  /// The transaction after which old values are known.
  private(set) var start: Int64 = 0
  var content = YardContent()
  /// The content after each transaction.
  private(set) var moments: [Int64: YardContent] = [0: YardContent()]

  init(keepsOldValues: Bool) { self.keepsOldValues = keepsOldValues }

  /// Notes a transaction, after which the content is what it is now.
  mutating func commit(_ changes: [String], author: String? = nil, process: Writer? = nil) {
    number += 1
    if isAudited { audited.insert(number) }
    if !changes.isEmpty {
      transactions.append(
        Transaction(number: number, author: author, process: process, changes: changes.sorted()))
    }
    moments[number] = content
  }

  mutating func deleteHistory(upTo last: Int64) {
    transactions.removeAll { $0.number <= last }
    deleted = last
    start = max(start, transactions.first.map { $0.number - 1 } ?? number)
  }

  // MARK: Changes as strings

  private func list(_ attributes: [String: String]) -> String {
    attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }.joined(separator: ",")
  }

  func inserted(_ key: Key) -> String { "+\(key.entity)/\(content.row(key) ?? 0)" }

  func deleted(_ key: Key, in before: YardContent) -> String {
    let attributes = before.attributes(key)
    let preserved = attributes.filter {
      key.entity == "Yard" ? $0.key == "name" : key.entity == "Permit" && $0.key == "text"
    }
    let old = keepsOldValues ? " was \(list(attributes))" : ""
    return "-\(key.entity)/\(before.row(key) ?? 0) \(list(preserved))\(old)"
  }

  func updated(_ key: Key, _ names: Set<String>, in before: YardContent) -> String {
    let attributes = before.attributes(key).filter { names.contains($0.key) }
    let old = keepsOldValues ? " was \(list(attributes))" : ""
    return
      "~\(key.entity)/\(content.row(key) ?? 0) \(names.sorted().joined(separator: ","))\(old)"
  }

  /// The changes of a save, between a content before it and that of now.
  func changes(since before: YardContent, touched: [Key: Set<String>]) -> [String] {
    let (old, new) = (before.keys, content.keys)
    let kept = old.intersection(new)
    return new.subtracting(old).map(inserted)
      + old.subtracting(new).map { deleted($0, in: before) }
      + kept.compactMap { key in
        let names = isAudited ? differences(key, before) : touched[key] ?? []
        return names.isEmpty ? nil : updated(key, names, in: before)
      }
  }

  /// What triggers see: columns and pairs that are other ones.
  private func differences(_ key: Key, _ before: YardContent) -> Set<String> {
    let (old, new) = (before.attributes(key), content.attributes(key))
    var names = Set(old.keys).union(new.keys).filter { old[$0] != new[$0] }
    for pair in before.pairs.symmetricDifference(content.pairs) {
      if key == Key(entity: "Barrel", number: pair.barrel) { names.insert("seals") }
      if key == Key(entity: "Seal", number: pair.seal) { names.insert("barrels") }
    }
    return names
  }
}

extension YardContent {
  /// Applies an edit, and notes the properties that it sets, on both sides.
  mutating func apply(_ edit: YardEdit, touching touched: inout [Key: Set<String>]) {
    func touch(_ entity: String, _ number: Int?, _ names: String...) {
      guard let number else { return }
      touched[Key(entity: entity, number: number), default: []].formUnion(names)
    }
    switch edit {
    case .insertYard(let number, let name): yards[number] = Yard(name: name)
    case .insertBarrel(let number, let litres, let yard):
      barrels[number] = Barrel(litres: litres, yard: yard)
      touch("Yard", yard, "barrels")
    case .insertSeal(let number): seals[number] = 0
    case .putPermit(let number, let text):
      touch("Permit", number, "number", "text")
      permits[number] = Permit(row: permits[number]?.row ?? 0, text: text)
    case .setName(let number, let name):
      touch("Yard", number, "name")
      yards[number]?.name = name
    case .setNote(let number, let note):
      touch("Yard", number, "note")
      yards[number]?.note = note
    case .setLitres(let number, let litres):
      touch("Barrel", number, "litres")
      barrels[number]?.litres = litres
    case .setYard(let barrel, let yard):
      touch("Barrel", barrel, "yard")
      touch("Yard", barrels[barrel]?.yard, "barrels")
      touch("Yard", yard, "barrels")
      barrels[barrel]?.yard = yard
    case .appendBarrel(let yard, let barrel):
      apply(.setYard(barrel: barrel, yard), touching: &touched)
    case .addSeal(let barrel, let seal):
      touch("Barrel", barrel, "seals")
      touch("Seal", seal, "barrels")
      pairs.insert(Pair(barrel: barrel, seal: seal))
    case .removeSeal(let barrel, let seal):
      touch("Barrel", barrel, "seals")
      touch("Seal", seal, "barrels")
      pairs.remove(Pair(barrel: barrel, seal: seal))
    case .deleteYard(let number):
      for (barrel, value) in barrels where value.yard == number {
        apply(.deleteBarrel(barrel), touching: &touched)
      }
      yards[number] = nil
    case .deleteBarrel(let number):
      touch("Yard", barrels[number]?.yard, "barrels")
      for pair in pairs where pair.barrel == number {
        apply(.removeSeal(barrel: number, pair.seal), touching: &touched)
      }
      barrels[number] = nil
    case .deleteSeal(let number):
      for pair in pairs where pair.seal == number {
        apply(.removeSeal(barrel: pair.barrel, number), touching: &touched)
      }
      seals[number] = nil
    case .deletePermit(let number): permits[number] = nil
    }
  }
}

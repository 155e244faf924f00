import SteadAdvice
import SteadLint

/// The verdict on something that code keeps.
///
/// The advice for what the code shows, compared with where the code keeps it today. It is computed
/// from one item and its findings, and reads nothing.
struct Judgement: Encodable {
  /// What should happen to it. `move` makes the command exit with 1.
  enum Verdict: String, Encodable {
    /// It belongs in another store.
    case move
    /// It's in the right store, but something about it should change.
    case change
    /// Nothing about it has to change.
    case stay
  }

  /// What is kept, as the linter found it.
  let item: KeptItem
  /// What the rules found on the lines that use it.
  let findings: [Finding]
  /// The store for it, and why.
  let advice: Advice
  let verdict: Verdict
  /// Limits of the store that are near or exceeded, or that the code doesn't show.
  let limits: [Threshold]
  /// The `stead advise` command that continues from here.
  let command: String

  /// Judges an item. Another store comes before anything that is wrong in the present one.
  init(_ item: KeptItem, findings: [Finding]) {
    self.item = item
    self.findings = findings
    let situation = item.situation(findings)
    let advice = Advisor.advice(for: situation)
    self.advice = advice
    // Those of the advice first, which the data comes near or exceeds.
    limits = Self.unique(advice.thresholds + item.limits)
    command = Self.command(for: situation)
    if Self.isMove(item, advice) {
      verdict = .move
    } else if findings.contains(where: { $0.level >= .warning }) || Self.isOpenList(item) {
      // Not by notes alone: what they name is often right as it is.
      verdict = .change
    } else {
      verdict = .stay
    }
  }

  /// Whether the store differs. A history takes over the key of an encoded list, so that change isn't a move.
  private static func isMove(_ item: KeptItem, _ advice: Advice) -> Bool {
    let isHistory = advice.store == .payloadHistory && item.today == .preferences
    return advice.store != item.today && !isHistory
  }

  /// Whether a list under a key only grows.
  ///
  /// It needs a limit, even if no rule has reported it.
  private static func isOpenList(_ item: KeptItem) -> Bool {
    item.kind == .preference && item.isUnlimited
  }

  /// Each limit once, in order.
  ///
  /// The advice and the item may name the same limit.
  private static func unique(_ thresholds: [Threshold]) -> [Threshold] {
    var seen: Set<String> = []
    return thresholds.filter { seen.insert($0.name).inserted }
  }

  /// The `stead advise` command with the answers that the code has given.
  ///
  /// Answers that code never gives, such as who else uses the data, aren't in it: a person adds
  /// them.
  private static func command(for situation: Situation) -> String {
    let answers: [(String, String?)] = [
      ("kind", situation.kind?.rawValue), ("origin", situation.origin?.rawValue),
      ("lifetime", situation.lifetime?.rawValue), ("count", situation.count.map(String.init)),
      ("size", situation.size.map(String.init)), ("access", situation.access?.rawValue),
      ("devices", situation.devices?.rawValue), ("ground", situation.ground?.rawValue),
      ("today", situation.today?.rawValue),
    ]
    let words = answers.compactMap { name, value in value.map { "--\(name) \($0)" } }
    return (["stead advise"] + words).joined(separator: " ")
  }

  private enum CodingKeys: CodingKey {
    case kind, name, type, keychain, today, places, verdict, store, reasons, limits, findings,
      command
  }

  /// A place in JSON.
  private struct Spot: Encodable {
    let path: String
    let line: Int
  }

  /// A finding in JSON, with its place in the same object.
  private struct Flaw: Encodable {
    let rule: String
    let level: Level
    let message: String
    let path: String
    let line: Int
  }

  /// Writes the members by hand: item and advice have more than a reader of the review needs.
  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(item.kind, forKey: .kind)
    try container.encode(item.name, forKey: .name)
    try container.encodeIfPresent(item.type, forKey: .type)
    try container.encodeIfPresent(item.keychain, forKey: .keychain)
    try container.encode(item.today, forKey: .today)
    try container.encode(
      item.places.map { Spot(path: $0.path, line: $0.line) }, forKey: .places)
    try container.encode(verdict, forKey: .verdict)
    try container.encode(advice.store, forKey: .store)
    try container.encode(advice.reasons, forKey: .reasons)
    try container.encode(limits, forKey: .limits)
    let flaws = findings.map {
      Flaw(
        rule: $0.ruleID, level: $0.level, message: $0.message, path: $0.place.path,
        line: $0.place.line)
    }
    try container.encode(flaws, forKey: .findings)
    try container.encode(command, forKey: .command)
  }
}

// MARK: - As text

extension Judgement {
  /// The judgement as text for people.
  var text: String {
    let place = item.places.first.map { "\($0.path):\($0.line)" } ?? ""
    var lines = ["\(verdict.rawValue.uppercased().padded(to: 6)) \(title)  \(place)"]
    lines.append("  today    \(today)")
    if verdict != .stay { lines.append("  better   \(better)") }
    lines += findings.map(text)
    // Findings are the reasons where there are any.
    if verdict == .move, findings.isEmpty {
      lines += advice.reasons.map { "  because  \($0)" }
    }
    // The reason of a limit is of interest only where something has to change.
    lines += limits.map { "  limit    \(verdict == .stay ? $0.figures : $0.text)" }
    if item.keychain != nil { lines.append("  note     \(Self.portability)") }
    if verdict == .move { lines.append("  how      \(command)") }
    return lines.joined(separator: "\n") + "\n"
  }

  /// A finding as a line: a note is marked as one, and everything else is a reason for the verdict.
  private func text(of finding: Finding) -> String {
    let isHere = finding.place.path == item.places.first?.path
    let place =
      isHere ? "line \(finding.place.line)" : "\(finding.place.path):\(finding.place.line)"
    let head = finding.level == .note ? "note   " : "because"
    return "  \(head)  \(finding.ruleID), \(place): \(finding.message)"
  }

  /// What is kept, by the name that the code gives it.
  private var title: String {
    switch item.kind {
    case .preference: "key \(key)"
    case .cloudValue: "key \(key) in iCloud"
    case .model: "model \(item.name)"
    case .managedObject: "class \(item.name)"
    case .file: "file \(item.name)"
    case .secret: "secret \(item.name)"
    }
  }

  /// The key in quotation marks, or the expression that makes it, without them.
  private var key: String { item.isNameKnown ? "\"\(item.name)\"" : item.name }

  /// The advised store, or that only something about the present one should change.
  private var better: String {
    guard verdict == .change, advice.store != .payloadHistory else { return advice.store.title }
    return "the same store, corrected"
  }

  // MARK: Today

  /// Where it is and in which form, with what the source shows about its use.
  private var today: String {
    switch item.kind {
    case .preference: "\(value) in preferences\(length)\(accesses)"
    case .cloudValue: "\(value) in iCloud's key-value store\(length)\(accesses)"
    case .managedObject: "Core Data"
    case .secret: (item.keychain.map(text) ?? "\(value) in a keychain") + accesses
    case .model: model
    case .file: "\(value) in \(place)\(length)\(accesses)"
    }
  }

  /// What is said about each item of a keychain query.
  private static let portability =
    "SecItem functions exist only on Apple's systems; `Secrets` keeps such items there and on Linux."

  /// A keychain item with the values of its query.
  private func text(of keychain: KeptItem.Keychain) -> String {
    var parts = ["\(keychain.itemClass) in the keychain"]
    if let service = keychain.service { parts.append("service \(service)") }
    if let account = keychain.account { parts.append("account \(account)") }
    parts.append(keychain.accessibility ?? "no accessibility")
    if keychain.isSynced { parts.append("synced by iCloud") }
    if let type = item.type { parts.append("a \(type), encoded") }
    return parts.joined(separator: ", ")
  }

  /// The file's directory in words.
  private var place: String {
    switch item.directory {
    case "temporary": "a temporary file"
    case "caches": "a file in caches"
    case let directory?: "a file in \(directory)"
    case nil: item.isFleeting ? "a file in a cache" : "a file"
    }
  }

  /// What is written, in words.
  private var value: String {
    switch item.form {
    case .plain: item.type.map { "a value of type \($0)" } ?? "a value"
    case .media: "an image, a sound or a film"
    case .encoded: "\(item.type ?? "a Codable value"), encoded"
    case .encodedList: "\(item.type ?? "a list"), encoded as a whole"
    case .records: "records"
    }
  }

  /// How many elements a list has at most, if anything shows that.
  private var length: String {
    guard item.form == .encodedList else { return "" }
    if let limit = item.limit { return ", at most \(limit)" }
    return item.isUnlimited ? ", without a limit" : ", with no visible limit"
  }

  /// How many places of the source write and read it.
  private var accesses: String {
    let counts = [(item.writeCount, "written"), (item.readCount, "read")].filter { $0.0 > 0 }
    let parts = counts.map { "\($0.1) in \($0.0) \($0.0 == 1 ? "place" : "places")" }
    let searched = item.isSearched ? ["searched in memory"] : []
    return (parts + searched).map { ", " + $0 }.joined()
  }

  /// A model's properties in numbers, and where its bytes are.
  private var model: String {
    guard let shape = item.shape else { return "records" }
    let count = shape.propertyCount
    var parts = ["\(count) stored \(count == 1 ? "property" : "properties")"]
    if shape.relationshipCount > 0 {
      parts.append(relationships(shape.relationshipCount))
    }
    if !shape.inlineData.isEmpty {
      parts.append("\(shape.inlineData.joined(separator: ", ")) in the row")
    }
    if !shape.externalData.isEmpty {
      parts.append("\(shape.externalData.joined(separator: ", ")) in files")
    }
    if item.isSynced { parts.append("synced with CloudKit") }
    return "SwiftData: " + parts.joined(separator: ", ")
  }

  /// The number of relationships as a part of a sentence.
  private func relationships(_ count: Int) -> String {
    count == 1 ? "one of them a relationship" : "\(count) of them relationships"
  }
}

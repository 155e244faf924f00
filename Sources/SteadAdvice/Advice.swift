/// The store that some data belongs in, with reasons, limits and code.
public struct Advice: Hashable, Codable, Sendable {
  /// The version of this type's JSON.
  public static let version = 1

  public let version: Int
  public let situation: Situation
  public let store: Store
  public let reasons: [String]
  /// Limits that the data comes near or exceeds.
  public let thresholds: [Threshold]
  /// When to leave the store, and where the data belongs then.
  public let exits: [String]
  /// Swift code that declares the store and uses it.
  public let declaration: String
  /// The directory of the files.
  public let directory: String
  public let sync: String
  public let backup: String
  public let encryption: String
  /// The linter's rules for code that uses the store.
  public let rules: [String]
  /// How to move the data out of its present store; nil if it stays there, or if no move is known.
  public let move: Move?

  init(_ situation: Situation) {
    let decision = Decision(situation)
    version = Self.version
    self.situation = situation
    store = decision.store
    let refinement = Refinement(situation, of: decision.store)
    reasons = decision.reasons + refinement.reasons
    thresholds = decision.thresholds
    exits = decision.store.exits + refinement.exits
    declaration = refinement.declaration
    directory = refinement.directory
    sync = refinement.sync
    backup = decision.store.backup
    encryption = decision.store.encryption
    rules = decision.store.rules
    move = situation.today.flatMap { Move.between($0, decision.store) }
  }

  /// The advice as text for people.
  public var text: String {
    var lines = ["Keep it in \(store.title)."]
    lines += reasons.map { "  " + $0 }
    for threshold in thresholds { lines.append("  Mind the limit: \(threshold.text)") }
    lines += ["", store.product.map { "Product: \($0)" } ?? "Framework: Core Data", ""]
    lines += declaration.split(separator: "\n", omittingEmptySubsequences: false).map {
      $0.isEmpty ? "" : "    " + $0
    }
    lines += [
      "", "Directory:  \(directory)", "Sync:       \(sync)", "Backup:     \(backup)",
      "Encryption: \(encryption)", "Rules:      \(rules.joined(separator: ", "))", "",
      "Leave it when",
    ]
    lines += exits.map { "  - " + $0 }
    lines += moving
    return lines.joined(separator: "\n") + "\n"
  }

  /// How to move the data out of its present store.
  private var moving: [String] {
    guard let today = situation.today else { return [] }
    if today == store { return ["", "It is already there."] }
    guard let move else {
      return [
        "",
        "No move from \(today.title) is known: write the data to the new store, read it back, then remove it here.",
      ]
    }
    let code = move.declaration.split(separator: "\n", omittingEmptySubsequences: false)
    return ["", "Move the data out of \(today.title):", ""]
      + code.map { $0.isEmpty ? "" : "    " + $0 }
  }
}

extension Threshold {
  /// The threshold as a sentence, with its reason.
  public var text: String { figures + " " + reason }

  /// The threshold as a sentence.
  public var figures: String {
    let (near, far) =
      unit == .bytes
      ? (ByteCount.text(comfortable), ByteCount.text(limit))
      : (ByteCount.grouped(comfortable), ByteCount.grouped(limit))
    return "\(name): fine up to \(near); beyond \(far), use another store."
  }
}

/// Where some data should be, and what comes with it.
public struct Advice: Hashable, Codable, Sendable {
  /// The version of the JSON that this type is written as.
  public static let version = 1

  public let version: Int
  public let situation: Situation
  public let store: Store
  public let reasons: [String]
  /// Limits that are near or passed.
  public let thresholds: [Threshold]
  /// When to leave the store, and what moves the data.
  public let exits: [String]
  /// Swift that declares the store and uses it.
  public let declaration: String
  /// The directory that the files are in.
  public let directory: String
  public let sync: String
  public let backup: String
  public let encryption: String
  /// The rules of the linter that watch over it.
  public let rules: [String]
  /// What moves the data from where it is today; nil where it stays, or no move is known.
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

  /// The advice as a person reads it.
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

  /// What becomes of the data where it is today.
  private var moving: [String] {
    guard let today = situation.today else { return [] }
    if today == store { return ["", "It is there already."] }
    guard let move else {
      return [
        "", "No move from \(today.title) is known: write it there, read it back, remove it here.",
      ]
    }
    let code = move.declaration.split(separator: "\n", omittingEmptySubsequences: false)
    return ["", "Move what is in \(today.title):", ""] + code.map { $0.isEmpty ? "" : "    " + $0 }
  }
}

extension Threshold {
  /// The threshold as a sentence, and its reason.
  public var text: String { figures + " " + reason }

  /// The threshold as a sentence.
  public var figures: String {
    let (near, far) =
      unit == .bytes
      ? (ByteCount.text(comfortable), ByteCount.text(limit))
      : (ByteCount.grouped(comfortable), ByteCount.grouped(limit))
    return "\(name): well up to \(near), elsewhere beyond \(far)."
  }
}

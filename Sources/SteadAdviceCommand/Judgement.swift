import SteadAdvice
import SteadLint

/// The verdict on something that code keeps.
struct Judgement: Encodable {
  enum Verdict: String, Encodable {
    /// It belongs in another store.
    case move
    /// It's in the right store, but something about it should change.
    case change
    case stay
  }

  let item: KeptItem
  let findings: [Finding]
  let advice: Advice
  let verdict: Verdict
  /// Limits of the store that are near or exceeded, or that the code doesn't show.
  let limits: [Threshold]
  /// The `stead advise` command that continues from here.
  let command: String

  init(_ item: KeptItem, findings: [Finding]) {
    self.item = item
    self.findings = findings
    let situation = item.situation(findings)
    let advice = Advisor.advice(for: situation)
    self.advice = advice
    limits = Self.unique(advice.thresholds + item.limits)
    command = Self.command(for: situation)
    if Self.isMove(item, advice) {
      verdict = .move
    } else if findings.contains(where: { $0.level >= .warning }) || Self.isOpenList(item) {
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
  private static func isOpenList(_ item: KeptItem) -> Bool {
    item.kind == .preference && item.isUnlimited
  }

  private static func unique(_ thresholds: [Threshold]) -> [Threshold] {
    var seen: Set<String> = []
    return thresholds.filter { seen.insert($0.name).inserted }
  }

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

  private struct Spot: Encodable {
    let path: String
    let line: Int
  }

  private struct Flaw: Encodable {
    let rule: String
    let level: Level
    let message: String
    let path: String
    let line: Int
  }

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

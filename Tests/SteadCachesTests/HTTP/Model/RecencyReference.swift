import Foundation
import SteadTestSupport

@testable import SteadCaches

/// What a cache has learned of one URL, and what it may give by that (RFC 9111, 3.5, 4, 4.2, 4.3.4 and 4.3.5).
///
/// Everything that the origin sends has a number, in the order in which it is sent, and each change of the resource has a
/// version. A response is outdated once the cache has stored another version that was sent later; and one that is stored is
/// outdated once the cache has received another version that it can't store, or the answer to a HEAD about another one. Such
/// messages leave no trace, so they tell nothing about a body that ends after them.
struct RecencyReference {
  /// A message of the origin.
  struct Message {
    let number: Int
    let version: Int
    let status: Int
    let request: RecencyOperation.Request
    let sentAt: Date
    /// Nil for a confirmation without one.
    let control: String?
    let hasTag: Bool

    var isForAnybody: Bool {
      guard let control else { return false }
      return control.contains("public") || control.contains("s-maxage")
    }

    var isForAllAccounts: Bool {
      isForAnybody || control?.contains("must-revalidate") == true
    }
  }

  let isShared: Bool
  private(set) var messages: [Message] = []
  /// The latest version that is stored, by the accounts that share responses.
  private var latest: [String: Int] = [:]
  /// The versions that have been received, and those among them that are outdated for having been removed.
  private var received: [String: Set<Int>] = [:]
  private var removed: [String: Set<Int>] = [:]
  /// The last answer to a HEAD without validators. It confirms what is stored, whichever version that is, so a body that was
  /// sent before it may count as the older one.
  private var vagueAnswers: [String: Int] = [:]
  /// When the cache was told that a version is right.
  private var confirmations: [Int: [Date]] = [:]

  init(isShared: Bool) { self.isShared = isShared }

  mutating func send(_ message: Message) { messages.append(message) }

  private func group(_ account: String?) -> String { isShared ? "" : account ?? "" }

  /// The cache has received a message with all its body.
  mutating func receive(_ message: Message) {
    let group = group(message.request.account)
    if message.request.method == "HEAD" {
      guard message.status == 200 else { return }
      // Without validators it may be about any version that is a 200.
      let others = (received[group] ?? []).filter {
        $0 < message.version && (message.hasTag || status(of: $0) != 200)
      }
      remove(others, from: group)
      if !message.hasTag { vagueAnswers[group] = message.number }
      for version in message.hasTag ? [message.version] : Array(0...message.version) {
        confirmations[version, default: []].append(message.sentAt)
      }
      return
    }
    confirmations[message.version, default: []].append(message.sentAt)
    if message.status == 304 {
      // It may have removed what it confirms.
      if message.control != nil, !mayBeStored(message) { latest[group] = nil }
      return
    }
    guard mayBeStored(message) else {
      return remove((received[group] ?? []).filter { $0 < message.version }, from: group)
    }
    if message.number > vagueAnswers[group] ?? -1 {
      latest[group] = max(latest[group] ?? 0, message.version)
    }
    received[group, default: []].insert(message.version)
    removed[group]?.remove(message.version)
  }

  private mutating func remove(_ versions: Set<Int>, from group: String) {
    removed[group, default: []].formUnion(versions)
    if let version = latest[group], versions.contains(version) { latest[group] = nil }
  }

  private func status(of version: Int) -> Int? {
    messages.first { $0.version == version && $0.status != 304 }?.status
  }

  /// Each message has a cookie.
  private func mayBeStored(_ message: Message) -> Bool {
    guard let control = message.control, control != "no-store" else { return false }
    return !isShared || message.isForAnybody && !control.contains("private")
  }

  /// What is wrong with a reply that wasn't asked for; nil if it is allowed.
  func fault(
    in reply: HTTPCache.Reply, to request: RecencyOperation.Request, now: Date
  ) -> String? {
    guard let version = reply.response.fields["Version"].flatMap({ Int($0) }),
      let message = messages.first(where: { $0.version == version && $0.status != 304 })
    else { return "a response that nobody sent" }
    let group = group(request.account)
    if version < latest[group] ?? 0 { return "version \(version), which is outdated" }
    if removed[group]?.contains(version) == true { return "version \(version), which was removed" }
    if message.status != reply.response.status { return "the status of another version" }
    if !(confirmations[version] ?? []).contains(where: { now.timeIntervalSince($0) < 20 }) {
      return "a stale response"
    }
    return faultOfFields(reply.response.fields, request)
  }

  /// Fields of one user that another one gets.
  private func faultOfFields(
    _ fields: HTTPCache.Fields, _ request: RecencyOperation.Request
  ) -> String? {
    for name in ["Set-Cookie", "Account"] {
      guard let number = fields[name].flatMap({ Int($0) }) else { continue }
      guard messages.indices.contains(number) else { return "an unknown \(name)" }
      let message = messages[number]
      if isShared {
        if name == "Set-Cookie", !message.isForAnybody { return "a cookie of one user" }
        if message.request.account != nil, !message.isForAllAccounts {
          return "\(name) of one account"
        }
      } else if message.request.account != request.account {
        return "\(name) of another account"
      }
    }
    return nil
  }

  /// What is wrong with a reply that the origin has just confirmed; nil if it is right.
  static func fault(in reply: HTTPCache.Reply, confirmedBy message: Message) -> String? {
    let fields = reply.response.fields
    if fields["Set-Cookie"] != "\(message.number)" { return "the cookie of another confirmation" }
    if let control = message.control, fields["Cache-Control"] != control {
      return "the Cache-Control of another confirmation"
    }
    return fields["Version"] == "\(message.version)" ? nil : "another version"
  }
}

/// One step of a random sequence about one URL whose resource changes.
enum RecencyOperation: Sendable, CustomStringConvertible {
  /// How the resource is served from now on.
  struct Rule: Sendable {
    var status = 200
    var control = "max-age=20"
    /// Whether a confirmation, too, has `Cache-Control`.
    var isRepeated = true
    var hasTag = true
  }

  struct Request: Sendable {
    var method = "GET"
    /// A user with an account of its own, or nobody.
    var account: String?
    var mode = HTTPCache.Mode.standard
    /// Whether the body of an answer is on its way until ``finish(_:)``.
    var isSlow = false
  }

  case send(Request)
  case change(Rule)
  case advance(Int)
  case finish(Int)

  static func random(using random: inout SplitMix) -> RecencyOperation {
    func pick<Value>(_ values: [Value], or other: Value) -> Value {
      values.randomElement(using: &random) ?? other
    }
    switch Int.random(in: 0..<20, using: &random) {
    case 0..<11:
      return .send(
        Request(
          method: pick(["GET", "GET", "GET", "HEAD"], or: "GET"),
          account: pick([nil, nil, "anna", "bob"], or: nil),
          mode: pick([.standard, .standard, .standard, .revalidate, .reload], or: .standard),
          isSlow: Int.random(in: 0..<3, using: &random) == 0))
    case 11..<14:
      return .change(
        Rule(
          status: pick([200, 200, 200, 404, 301], or: 200),
          control: pick(
            [
              "max-age=20", "public, max-age=20", "s-maxage=20, public",
              "must-revalidate, max-age=20",
              "public, max-age=0", "no-store", "private, max-age=20",
            ], or: ""), isRepeated: pick([true, false], or: true),
          hasTag: pick([true, true, false], or: true)))
    case 14..<16: return .advance(pick([1, 5, 15, 20, 40], or: 1))
    default: return .finish(Int.random(in: 0..<4, using: &random))
    }
  }

  var description: String {
    switch self {
    case .send(let request):
      "\(request.isSlow ? "slow " : "")\(request.method) of \(request.account ?? "nobody"), \(request.mode)"
    case .change(let rule):
      "change to \(rule.status), \(rule.control), \(rule.hasTag ? "tag" : "no tag"), \(rule.isRepeated ? "repeated" : "once")"
    case .advance(let seconds): "advance \(seconds)"
    case .finish(let number): "finish \(number)"
    }
  }
}

import Foundation

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

import Foundation
import SteadTestSupport

@testable import SteadCaches

/// Says of one reply whether a cache may give it, by what the origin sent before; nothing else is asked.
struct ModelReference {
  let get: ModelOperation.Get
  let isOffline: Bool
  let state: ModelOrigin.State

  /// What is wrong with a reply; nil if it is allowed.
  func fault(in reply: HTTPCache.Reply, _ body: Data) -> String? {
    switch reply.response.status {
    case 200, 206: return faultOfContent(reply, body)
    case 304: return faultOf304(reply)
    case 503: return state.hasFailed ? nil : "a 503 that the origin did not send"
    case 504:
      return get.fields["Cache-Control"]?.contains("only-if-cached") == true
        ? nil : "a 504 nobody asked for"
    default: return get.method == "POST" ? nil : "the status \(reply.response.status)"
    }
  }

  private func faultOfContent(_ reply: HTTPCache.Reply, _ body: Data) -> String? {
    guard let serial = reply.response.fields["Serial"].flatMap({ Int($0) }) else {
      return get.method == "HEAD" && reply.outcome.source == .miss ? nil : "no serial number"
    }
    let record = state.records[serial - 1]
    if get.method == "GET", let fault = faultOfBody(reply, body, record) { return fault }
    return faultOfUse(record, reply)
  }

  private func faultOfBody(_ reply: HTTPCache.Reply, _ body: Data, _ record: SentRecord) -> String?
  {
    let all = ModelOrigin.bytes(serial: record.serial, size: record.rule.size)
    guard reply.response.status == 206 else { return body == all ? nil : "another body" }
    let asked = get.fields["Range"].flatMap(ByteRange.init)?.positions(in: all.count)
    guard let asked, let range = reply.response.fields["Content-Range"].flatMap(ContentRange.init)
    else {
      return "a part that nobody asked for"
    }
    guard range == ContentRange(positions: asked, length: all.count) else { return "another range" }
    return body == all.slice(asked) ? nil : "the bytes of another range"
  }

  private func faultOf304(_ reply: HTTPCache.Reply) -> String? {
    guard let asked = get.fields["If-None-Match"] else { return "a 304 without a condition" }
    guard reply.response.fields["ETag"] == asked else { return "a 304 for another tag" }
    let version = Int(asked.dropFirst().dropLast())
    if reply.outcome.source == .miss || reply.outcome.source == .bypass { return nil }
    let candidates = state.records.filter { $0.path == get.path && $0.version == version }
    let faults = candidates.map { faultOfUse($0, reply) }
    return faults.contains(nil) ? nil : faults.first ?? "a 304 for what was never sent"
  }

  private func faultOfUse(_ record: SentRecord, _ reply: HTTPCache.Reply) -> String? {
    let request = HTTPCache.Request(url: URL(filePath: "/"), fields: get.fields)
    guard record.path == get.path else { return "a response of another URL" }
    guard record.variant == ModelOrigin.variant(of: request) else { return "another variant" }
    if state.sent.contains(record.serial), reply.outcome.source != .hit { return nil }
    guard record.isAlive else { return "a response that was removed" }
    let newer = state.records.contains { other in
      other.serial > record.serial && other.path == record.path && other.variant == record.variant
        && other.isOffered && !other.rule.noStore && other.isAlive && other.version > record.version
    }
    if newer { return "an older response than the newest" }
    if state.confirmed.contains(record.serial) { return nil }
    guard !record.rule.noStore else { return "a response that may not be stored" }
    return mayUse(record) ? nil : "a stale response"
  }

  private func mayUse(_ record: SentRecord) -> Bool {
    if isOffline || get.mode == .preferStored || get.mode == .onlyStored { return true }
    let (rule, now) = (record.rule, state.now)
    let control = get.fields["Cache-Control"] ?? ""
    func number(_ name: String) -> Double? {
      control.split(separator: ", ").first { $0.hasPrefix(name + "=") }.flatMap {
        Double($0.dropFirst(name.count + 1))
      }
    }
    let age = Double(rule.age) + now.timeIntervalSince(record.confirmedAt)
    let rest = lifetime(record) - age
    if get.mode == .reload || get.mode == .bypass || control.contains("no-store") { return false }
    if rule.noCache || control == "no-cache" || now < record.confirmedAt { return false }
    if get.mode == .revalidate {
      return rule.isImmutable && rest > 0 || allowsError(rule, number, rest)
    }
    let maxStale = control.hasSuffix("max-stale") ? Double.infinity : number("max-stale")
    if allowsError(rule, number, rest) { return true }
    if let maxAge = number("max-age") {
      guard age <= maxAge + (maxStale ?? 0), maxAge + (maxStale ?? 0) > 0 else { return false }
    }
    if let minFresh = number("min-fresh"), rest < minFresh { return false }
    if rest > 0 { return true }
    if rule.mustRevalidate { return false }
    if let maxStale, -rest <= maxStale { return true }
    return rule.staleWhileRevalidate.map { -rest < Double($0) } ?? false
  }

  private func allowsError(_ rule: ServingRule, _ number: (String) -> Double?, _ rest: Double)
    -> Bool
  {
    guard state.hasFailed, !rule.mustRevalidate,
      let limit = rule.staleIfError.map(Double.init) ?? number("stale-if-error")
    else {
      return false
    }
    return -rest < limit
  }

  private func lifetime(_ record: SentRecord) -> Double {
    if let maxAge = record.rule.maxAge { return Double(maxAge) }
    if let expires = record.expires { return expires.timeIntervalSince(record.confirmedAt) }
    guard let modified = record.modified else { return 0 }
    return min(7 * 86_400, record.confirmedAt.timeIntervalSince(modified) / 10)
  }
}

/// One step of a random sequence, with all that it needs, so that a sequence can be shortened.
enum ModelOperation: Sendable, CustomStringConvertible {
  struct Get: Sendable {
    var path: String
    var fields: HTTPCache.Fields
    var mode: HTTPCache.Mode
    var method: String
  }

  case get(Get)
  case change(String)
  case serve(String, ServingRule)
  case advance(Int)
  case fail(ModelOrigin.Failure)
  case offline(Bool)
  case clear(String)
  case clearHost(String)
  case clearSince(secondsAgo: Int)
  case clearAll
  case reopen
  case other

  static let paths = ["http://a.example/1", "http://a.example/2?x", "http://b.example/"]

  static func random(using random: inout SplitMix) -> ModelOperation {
    let path = paths.randomElement(using: &random) ?? ""
    switch Int.random(in: 0..<100, using: &random) {
    case 0..<50: return .get(.random(path, using: &random))
    case 50..<55: return .get(Get(path: path, fields: [:], mode: .standard, method: "POST"))
    case 55..<60: return .get(Get(path: path, fields: [:], mode: .standard, method: "HEAD"))
    case 60..<66: return .change(path)
    case 66..<70: return .serve(path, .random(using: &random))
    case 70..<85:
      return .advance([1, 1, 2, 4, 5, 6, 10, 11, 60, 200, -3].randomElement(using: &random) ?? 1)
    case 85..<89:
      return .fail(
        [.none, .none, .unreachable, .unavailable].randomElement(using: &random) ?? .none)
    case 89..<91: return .offline(Bool.random(using: &random))
    case 91: return .clear(path)
    case 92: return .clearHost(Bool.random(using: &random) ? "a.example" : "b.example")
    case 93: return .clearSince(secondsAgo: Int.random(in: 0...20, using: &random))
    case 94: return .clearAll
    case 95..<97: return .reopen
    default: return .other
    }
  }

  var description: String {
    switch self {
    case .get(let get):
      "\(get.method) \(get.path) \(get.fields.map { "\($0.name): \($0.value)" }) \(get.mode)"
    case .change(let path): "change \(path)"
    case .serve(let path, let rule): "serve \(path) with \(rule)"
    case .advance(let seconds): "advance \(seconds)"
    case .fail(let failure): "fail \(failure)"
    case .offline(let isOffline): "offline \(isOffline)"
    case .clear(let path): "clear \(path)"
    case .clearHost(let host): "clear host \(host)"
    case .clearSince(let seconds): "clear since \(seconds) s ago"
    case .clearAll: "clear all"
    case .reopen: "reopen"
    case .other: "switch to the other object"
    }
  }
}

extension ModelOperation.Get {
  static func random(_ path: String, using random: inout SplitMix) -> Self {
    var fields: HTTPCache.Fields = [:]
    func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    if oneIn(3) { fields["Variant"] = oneIn(2) ? "x" : "y" }
    if oneIn(6) { fields["Authorization"] = oneIn(2) ? "one" : "two" }
    if oneIn(5) {
      let controls = [
        "no-cache", "no-store", "max-age=0", "max-age=4", "max-stale=6", "max-stale", "min-fresh=5",
        "only-if-cached",
        "max-age=4, max-stale=3", "stale-if-error=20",
      ]
      fields["Cache-Control"] = controls.randomElement(using: &random)
    }
    if oneIn(6) {
      fields["Range"] = ["bytes=0-4", "bytes=3-", "bytes=-2"].randomElement(using: &random)
    }
    if oneIn(10) { fields["If-None-Match"] = "\"\(Int.random(in: 1...3, using: &random))\"" }
    let modes: [HTTPCache.Mode] = [
      .standard, .standard, .standard, .standard, .standard, .standard, .reload, .revalidate,
      .preferStored,
      .onlyStored, .bypass,
    ]
    return Self(
      path: path, fields: fields, mode: modes.randomElement(using: &random) ?? .standard,
      method: "GET")
  }
}

extension ServingRule {
  static func random(using random: inout SplitMix) -> ServingRule {
    func oneIn(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &random) == 0 }
    var rule = ServingRule()
    if !oneIn(4) { rule.maxAge = [0, 5, 10, 100].randomElement(using: &random) }
    if oneIn(4) { rule.expiresIn = [-5, 5, 10].randomElement(using: &random) }
    if oneIn(6) { rule.age = 3 }
    rule.noStore = oneIn(8)
    rule.noCache = oneIn(8)
    rule.mustRevalidate = oneIn(6)
    rule.isImmutable = oneIn(8)
    if oneIn(4) { rule.staleWhileRevalidate = 6 }
    if oneIn(4) { rule.staleIfError = 8 }
    rule.hasTag = !oneIn(3)
    rule.hasLastModified = oneIn(3)
    rule.isChunked = oneIn(3)
    rule.size = [0, 1, 10, 200, 1500, 4000].randomElement(using: &random) ?? 10
    return rule
  }
}

import Foundation
import Synchronization

@testable import SteadCaches

/// How a resource is served; the reference decides by these values, not by the fields made of them.
struct ServingRule: Sendable, Hashable, CustomStringConvertible {
  var maxAge: Int?
  var expiresIn: Int?
  var age = 0
  var noStore = false
  var noCache = false
  var mustRevalidate = false
  var isImmutable = false
  var staleWhileRevalidate: Int?
  var staleIfError: Int?
  var hasTag = false
  var hasLastModified = false
  var isChunked = false
  var size = 10

  var control: String {
    var parts: [String] = []
    if let maxAge { parts.append("max-age=\(maxAge)") }
    if noStore { parts.append("no-store") }
    if noCache { parts.append("no-cache") }
    if mustRevalidate { parts.append("must-revalidate") }
    if isImmutable { parts.append("immutable") }
    if let staleWhileRevalidate { parts.append("stale-while-revalidate=\(staleWhileRevalidate)") }
    if let staleIfError { parts.append("stale-if-error=\(staleIfError)") }
    return parts.joined(separator: ", ")
  }

  var description: String {
    let more = [
      expiresIn.map { "Expires +\($0)" }, age > 0 ? "Age \(age)" : nil, hasTag ? "ETag" : nil,
      hasLastModified ? "Last-Modified" : nil, isChunked ? "chunked" : nil, "\(size) bytes",
    ]
    return ([control] + more.compactMap { $0 }).joined(separator: "; ")
  }
}

/// Something that the origin sent, or confirmed later.
struct SentRecord: Sendable {
  let serial: Int
  let path: String
  let version: Int
  /// The values of the fields that tell requests apart: `Variant` and `Authorization`.
  let variant: [String]
  let sentAt: Date
  /// The rule of the last confirmation, and when it came.
  var rule: ServingRule
  var confirmedAt: Date
  /// What the response says of its end and of its last change.
  var expires: Date?
  var modified: Date?
  var isAlive = true
  /// Whether the cache may have looked at it at all.
  var isOffered = true

  mutating func confirm(by new: ServingRule, version: (number: Int, since: Date), at now: Date) {
    // The fields of a confirmation replace those of the same names, and leave the others.
    if new.control.isEmpty {
      rule.age = new.age
      rule.hasTag = rule.hasTag || new.hasTag
    } else {
      let old = rule
      rule = new
      (rule.hasTag, rule.size) = (old.hasTag || new.hasTag, old.size)
    }
    confirmedAt = now
    if let seconds = new.expiresIn { expires = now + TimeInterval(seconds) }
    if new.hasLastModified { modified = version.since }
  }
}

/// A server of a few resources that knows everything it ever sent.
final class ModelOrigin: Sendable {
  enum Failure: Sendable { case none, unreachable, unavailable }

  struct State {
    var now = Date(timeIntervalSince1970: 1_800_000_000)
    var rules: [String: ServingRule] = [:]
    var versions: [String: (number: Int, since: Date)] = [:]
    var records: [SentRecord] = []
    var failure = Failure.none
    /// What happened since the last operation began.
    var sent: Set<Int> = []
    var confirmed: Set<Int> = []
    var hasFailed = false
  }

  let state: Mutex<State>

  init(rules: [String: ServingRule]) {
    state = Mutex(State())
    state.withLock { state in
      state.rules = rules
      for path in rules.keys { state.versions[path] = Self.version(1) }
    }
  }

  /// A version, and when it came to be: each has a second of its own, long before the first request.
  static func version(_ number: Int) -> (number: Int, since: Date) {
    (number, State().now - 1000 + TimeInterval(number))
  }

  var now: Date { state.withLock { $0.now } }

  /// The bytes of one sent response, which no other has.
  static func bytes(serial: Int, size: Int) -> Data {
    Data((0..<size).map { UInt8(truncatingIfNeeded: serial &* 31 &+ $0 &* (serial | 1)) })
  }

  static func variant(of request: HTTPCache.Request) -> [String] {
    ["Variant", "Authorization"].map { request.fields[$0] ?? "-" }
  }

  var fetch: HTTPCache.Fetch {
    { request in try self.state.withLock { try self.answer(request, &$0) } }
  }

  private func answer(
    _ request: HTTPCache.Request, _ state: inout State
  ) throws -> (HTTPCache.Response, HTTPCache.Body) {
    let path = request.url.absoluteString
    if state.failure != .none { state.hasFailed = true }
    if state.failure == .unreachable { throw Unreachable() }
    if state.failure == .unavailable { return (.init(status: 503), .init(Data("failed".utf8))) }
    guard let rule = state.rules[path], let version = state.versions[path] else {
      return (.init(status: 404, fields: ["Cache-Control": "no-store"]), .init())
    }
    guard ["GET", "HEAD"].contains(request.method) else {
      for index in state.records.indices where state.records[index].path == path {
        state.records[index].isAlive = false
      }
      return (.init(status: 204), .init())
    }
    var fields = fields(rule, version, state.now)
    let isKnown =
      rule.hasTag && request.fields["If-None-Match"] == tag(version.number)
      || !request.fields.contains("If-None-Match") && rule.hasLastModified
        && request.fields["If-Modified-Since"] == HTTPDate.string(version.since)
    let variant = Self.variant(of: request)
    if isKnown {
      confirm(path, version, variant, rule, &state)
      return (.init(status: 304, fields: fields), .init())
    }
    if request.method == "HEAD" {
      learn(path, version, variant, rule, &state)
      return (.init(status: 200, fields: fields), .init())
    }
    let serial = state.records.count + 1
    fields["Serial"] = String(serial)
    var record = SentRecord(
      serial: serial, path: path, version: version.number, variant: variant, sentAt: state.now,
      rule: rule,
      confirmedAt: state.now)
    record.confirm(by: rule, version: version, at: state.now)
    state.records.append(record)
    state.sent.insert(serial)
    return respond(request, Self.bytes(serial: serial, size: rule.size), fields, rule)
  }

  private func respond(
    _ request: HTTPCache.Request, _ bytes: Data, _ fields: HTTPCache.Fields, _ rule: ServingRule
  ) -> (HTTPCache.Response, HTTPCache.Body) {
    var (fields, bytes, status) = (fields, bytes, 200)
    if let range = request.fields["Range"].flatMap(ByteRange.init),
      let positions = range.positions(in: bytes.count)
    {
      fields["Content-Range"] =
        "bytes \(positions.lowerBound)-\(positions.upperBound - 1)/\(bytes.count)"
      bytes = bytes.slice(positions)
      status = 206
    }
    fields["Content-Length"] = rule.isChunked ? nil : String(bytes.count)
    guard rule.isChunked else { return (.init(status: status, fields: fields), .init(bytes)) }
    let chunks = stride(from: 0, to: bytes.count, by: 700).map {
      bytes[$0..<min($0 + 700, bytes.count)]
    }
    let stream = AsyncStream<Data> { continuation in
      for chunk in chunks { continuation.yield(Data(chunk)) }
      continuation.finish()
    }
    return (.init(status: status, fields: fields), .init(stream))
  }

  private func fields(_ rule: ServingRule, _ version: (number: Int, since: Date), _ now: Date)
    -> HTTPCache.Fields
  {
    var fields: HTTPCache.Fields = ["Vary": "Variant", "Date": HTTPDate.string(now)]
    if !rule.control.isEmpty { fields["Cache-Control"] = rule.control }
    if let seconds = rule.expiresIn {
      fields["Expires"] = HTTPDate.string(now + TimeInterval(seconds))
    }
    if rule.age > 0 { fields["Age"] = String(rule.age) }
    if rule.hasTag { fields["ETag"] = tag(version.number) }
    if rule.hasLastModified { fields["Last-Modified"] = HTTPDate.string(version.since) }
    return fields
  }

  private func tag(_ version: Int) -> String { "\"\(version)\"" }

  private func confirm(
    _ path: String, _ version: (number: Int, since: Date), _ variant: [String], _ rule: ServingRule,
    _ state: inout State
  ) {
    for index in state.records.indices {
      let record = state.records[index]
      guard record.path == path, record.version == version.number, record.variant == variant else {
        continue
      }
      state.records[index].confirm(by: rule, version: version, at: state.now)
      state.confirmed.insert(record.serial)
    }
  }

  /// The response to a HEAD confirms what has the same validators, and outdates the rest.
  private func learn(
    _ path: String, _ version: (number: Int, since: Date), _ variant: [String], _ rule: ServingRule,
    _ state: inout State
  ) {
    for index in state.records.indices {
      let record = state.records[index]
      guard record.path == path, record.variant == variant, record.isAlive else { continue }
      let isSame = !rule.hasTag || record.rule.hasTag && record.version == version.number
      if isSame, !rule.hasLastModified || record.modified == version.since {
        state.records[index].confirm(by: rule, version: version, at: state.now)
      } else {
        state.records[index].isAlive = false
      }
    }
  }
}

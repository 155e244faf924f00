import Foundation
import SteadTestSupport

@testable import SteadCaches

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

import SteadTestSupport

@testable import SteadCaches

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

import SteadTestSupport

/// A step of a random history, in numbers: which objects they mean depends on those that exist then, so that a
/// sequence without some of its steps is one, too.
struct YardStep {
  enum Kind: CaseIterable {
    case save, deletePermits, sql, rollBack, toggleTrigger, deleteHistory, fetch, past
  }

  struct Edit {
    let kind: Int
    let first: Int
    let second: Int
  }

  let kind: Kind
  /// Whether the other process does it.
  let isOther: Bool
  let choice: Int
  var edits: [Edit] = []

  private static let weights: [(Kind, Int)] = [
    (.save, 10), (.deletePermits, 1), (.sql, 4), (.rollBack, 1), (.toggleTrigger, 1),
    (.deleteHistory, 1), (.fetch, 2), (.past, 1),
  ]

  init(_ random: inout SplitMix) {
    func pick(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
    var place = pick(Self.weights.reduce(0) { $0 + $1.1 })
    kind =
      Self.weights.first { weight in
        place -= weight.1
        return place < 0
      }?.0 ?? .save
    isOther = pick(2) == 0
    choice = pick(1_000)
    if [.save, .sql, .rollBack].contains(kind) {
      edits = (0...pick(4)).map { _ in
        Edit(kind: pick(100), first: pick(1_000), second: pick(1_000))
      }
    }
  }
}

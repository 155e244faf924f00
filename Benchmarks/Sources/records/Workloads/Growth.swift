import BenchmarkHarness
import SwiftData

/// What changing a list object by object costs, in times of one `+=` of all of them in the same run.
struct Growth: Sendable {
  static let count = 8_000

  /// Where the owner of the list is.
  enum Start { case inserted, saved, loose }

  /// One run, in nanoseconds.
  struct Run {
    let single: Double
    let whole: Double
    var ratio: Double { single / whole }
  }

  let name: String
  let title: String
  var limit: Double? = Goals.growth
  var start = Start.inserted
  /// Whether the list has all objects when the clock starts.
  var isFull = false
  let change: @Sendable (Box, [Piece]) -> Void
  var whole: @Sendable (Box, [Piece]) -> Void = { $0.pieces += $1 }

  static let all = [
    Growth(name: "growth", title: "8,000 single appends") { box, pieces in
      for piece in pieces { box.pieces.append(piece) }
    },
    Growth(name: "growth-saved", title: "the same, saved parent", start: .saved) {
      box, pieces in
      for piece in pieces { box.pieces.append(piece) }
    },
    Growth(name: "growth-loose", title: "the same, without a context", start: .loose) {
      box, pieces in
      for piece in pieces { box.pieces.append(piece) }
    },
    Growth(name: "growth-many", title: "the same, many-to-many") { box, pieces in
      for piece in pieces { box.listed.append(piece) }
    } whole: { box, pieces in
      box.listed += pieces
    },
    Growth(name: "growth-one-way", title: "the same, no inverse") { box, pieces in
      for piece in pieces { box.noted.append(piece) }
    } whole: { box, pieces in
      box.noted += pieces
    },
    Growth(name: "growth-inverse", title: "8,000 times piece.box = box") { box, pieces in
      for piece in pieces { piece.box = box }
    },
    // Removing compares with adding all, so these are reports without goals.
    Growth(name: "shrinking", title: "8,000 times removeLast", limit: nil, isFull: true) {
      box, pieces in
      for _ in pieces { box.pieces.removeLast() }
    },
    Growth(
      name: "shrinking-first", title: "8,000 times removeFirst", limit: nil, isFull: true
    ) { box, pieces in
      for _ in pieces { box.pieces.removeFirst() }
    },
    Growth(
      name: "shrinking-inverse", title: "8,000 times piece.box = nil", limit: nil,
      isFull: true
    ) { _, pieces in
      for piece in pieces { piece.box = nil }
    },
  ]

  func measure() throws -> Run {
    let whole = try time(whole, isFull: false)
    return Run(single: try time(change, isFull: isFull), whole: whole)
  }

  private func time(
    _ change: (Box, [Piece]) -> Void, isFull: Bool
  ) throws -> Double {
    let container = try ModelContainer(
      for: Box.self, Piece.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let box = Box()
    if start != .loose { context.insert(box) }
    let pieces = (0..<Self.count).map { Piece(number: $0) }
    if isFull { box.pieces = pieces }
    if start == .saved { try context.save() }
    return timed { change(box, pieces) }
  }
}

import Foundation

/// One measure: what Stead does, beside what is there without it or beside another size.
package struct Comparison {
  /// What is asked of a measure.
  package enum Limit {
    /// Nanoseconds for one call.
    case time(Double)
    /// Times the second peer's.
    case ratio(Double)
  }

  /// One who does the work, and returns how many nanoseconds one call took.
  package struct Peer {
    let name: String
    let run: () throws -> Double

    package init(name: String, run: @escaping () throws -> Double) {
      self.name = name
      self.run = run
    }
  }

  package let name: String
  package let title: String
  let limit: Limit?
  /// Makes what is worked on, in an empty directory. Stead is the first of the peers.
  let prepare: (URL) throws -> [Peer]

  package init(
    name: String, title: String, limit: Limit? = nil, prepare: @escaping (URL) throws -> [Peer]
  ) {
    self.name = name
    self.title = title
    self.limit = limit
    self.prepare = prepare
  }
}

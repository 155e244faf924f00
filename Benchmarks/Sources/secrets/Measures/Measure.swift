import Foundation

/// One part of the report: what Stead does beside what is there without it.
struct Measure {
  /// What is asked of a measure.
  enum Limit {
    /// Nanoseconds for one call.
    case time(Double)
    /// Times the peer's.
    case ratio(Double)
  }

  /// One who does the work, and returns how many nanoseconds one call took.
  struct Peer {
    let name: String
    let run: () throws -> Double
  }

  let name: String
  let title: String
  var limit: Limit?
  /// Makes what is worked on, in an empty directory. Stead is the first of the peers.
  let prepare: (URL) throws -> [Peer]

  static var all: [Measure] {
    VaultGet.measures + VaultSet.measures + VaultOpen.measures + ServiceCalls.measures
  }
}

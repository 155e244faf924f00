import Foundation

/// What a child process does to one peer's store, and what it measures at that.
enum Task: String, CaseIterable {
  case get, set, worst, open, overwrite, large, memory, flush

  /// Runs in the child; each value has a name.
  func run(_ peer: Peer, keys: Int, in directory: URL) throws -> [String: Double] {
    switch self {
    case .get: try Scalars.get(peer.store, peer, keys, directory)
    case .set: try Scalars.set(peer.store, peer, keys, directory)
    case .worst: try Scalars.worst(peer.store, peer, keys, directory)
    case .open: try Opening.measure(peer.store, keys, directory)
    case .overwrite: try Overwriting.measure(peer.store, directory)
    case .large: try LargeValues.measure(peer.store, directory)
    case .memory: try Memory.measure(peer.store, keys, directory)
    case .flush: try Flushing.measure(directory)
    }
  }

  /// Whether the child finds a store with the keys; the others begin with an empty directory.
  var needsFilledStore: Bool {
    switch self {
    case .get, .set, .worst, .open, .memory: true
    case .overwrite, .large, .flush: false
    }
  }

  /// The allocator is left as programs have it where memory is what is measured.
  var keepsFreedMemory: Bool { self != .memory }
}

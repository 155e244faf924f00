/// The domains in which a value is looked up, the first that has it winning; and the one that `set` writes.
///
/// Immutable, so that readers need no lock.
final class SearchList: Sendable {
  let layers: [DomainStore]
  private let uncounted: [Unmanaged<DomainStore>]
  let target: DomainStore
  /// Why the target is a replacement in memory; nil when it is not.
  let problem: PreferencesError?

  init(layers: [DomainStore], target: DomainStore, problem: PreferencesError?) {
    self.layers = layers
    uncounted = layers.map(Unmanaged.passUnretained)
    self.target = target
    self.problem = problem
  }

  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    // Without counting references, which costs more than a look-up: `layers` retains them all.
    for layer in uncounted {
      if let value = layer._withUnsafeGuaranteedRef({ layer in layer.value(forKey: key) }) {
        return value
      }
    }
    return nil
  }

  /// Writes to the target, without counting references.
  @inline(__always)
  func withTarget(_ body: (DomainStore) throws -> Void) rethrows {
    try Unmanaged.passUnretained(target)._withUnsafeGuaranteedRef(body)
  }

  func isInterchangeable(with other: SearchList) -> Bool {
    target === other.target && (problem == nil) == (other.problem == nil)
      && layers.count == other.layers.count && zip(layers, other.layers).allSatisfy { $0 === $1 }
  }
}

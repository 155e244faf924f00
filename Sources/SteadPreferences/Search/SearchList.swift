/// The domains that a value is looked up in, the first that has it counts; and where `set` writes.
///
/// Never changed once made, so that readers need no lock.
final class SearchList: Sendable {
  let layers: [DomainStore]
  let target: DomainStore
  /// Why the target is a stand-in in memory, nil when it is not.
  let problem: PreferencesError?

  /// The layers once more, without counting references, which would take longer than the look-up.
  ///
  /// Written in `init` alone, and `layers` keeps what it refers to.
  nonisolated(unsafe) private let stores: UnsafeMutableBufferPointer<Unmanaged<DomainStore>>

  init(layers: [DomainStore], target: DomainStore, problem: PreferencesError?) {
    self.layers = layers
    self.target = target
    self.problem = problem
    stores = .allocate(capacity: layers.count)
    _ = stores.initialize(from: layers.lazy.map { Unmanaged.passUnretained($0) })
  }

  deinit { stores.deallocate() }

  @inline(__always)
  func value(forKey key: String) -> PropertyList? {
    for store in stores {
      if let value = store._withUnsafeGuaranteedRef({ $0.value(forKey: key) }) { return value }
    }
    return nil
  }

  func isInterchangeable(with other: SearchList) -> Bool {
    target === other.target && (problem == nil) == (other.problem == nil)
      && layers.count == other.layers.count && zip(layers, other.layers).allSatisfy { $0 === $1 }
  }
}

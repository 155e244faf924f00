/// The domains that a value is looked up in, the first that has it counts; and where `set` writes.
struct SearchList: Sendable {
  var layers: [DomainStore]
  var target: DomainStore
  var isReadOnly = false
  /// Why the target is a stand-in in memory, nil when it is not.
  var problem: PreferencesError?
  /// What `addSuite(named:)` was given, in that order.
  var suites: [String] = []
  /// The generation of the environment's domains that this list was made for.
  var generation = 0
}

import CSteadFiles

/// Tells a process from the one it was forked from.
package enum ForkGeneration {
  /// Another number in the child of a fork than in its parent.
  package static var current: UInt64 { stead_fork_generation() }
}

/// What the simulated server does wrong, so that tests see that a simulation finds it and shortens its history.
///
/// Faults of the protocol itself are in Scripts/mutants.txt.
package enum SimulatedFault: Sendable {
  /// The cursor of a page that isn't the last skips a record, which the device then never gets.
  case cursorSkipsARecord
}

/// Faults that tests inject into the protocol to check that they are found. Nothing else can set them.
package struct Faults: OptionSet, Hashable, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  /// A push is applied as often as it arrives.
  package static let noDedupe = Faults(rawValue: 1 << 0)
  /// A page ends one number later than it should.
  package static let gapInSeq = Faults(rawValue: 1 << 1)
  /// A purge removes tombstones without expiring cursors below it.
  package static let purgeWithoutHorizon = Faults(rawValue: 1 << 2)
  /// References to deleted and merged records stay.
  package static let noRepair = Faults(rawValue: 1 << 3)
  /// Records may share unique keys.
  package static let noUnique = Faults(rawValue: 1 << 4)
  /// Stamps in the future are accepted.
  package static let noClamp = Faults(rawValue: 1 << 5)
  /// Devices only use their own clocks for stamps.
  package static let noHybridClock = Faults(rawValue: 1 << 6)
  /// The server doesn't check the marks of cursors.
  package static let noMarks = Faults(rawValue: 1 << 7)
  /// The value that arrives last wins.
  package static let arrivalWins = Faults(rawValue: 1 << 8)
  /// An update of a deleted record brings it back.
  package static let updateResurrects = Faults(rawValue: 1 << 9)
}

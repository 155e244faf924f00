/// Where things are moved to.
public protocol TransferDestination<Element>: Sendable {
  /// What is written for one item.
  associatedtype Element

  /// What it is, for reports and errors: `records in notes.store`.
  var name: String { get }

  /// The receipt of a transfer, nil when it has not been here.
  func receipt(named id: String) throws -> TransferReceipt?

  /// Writes elements and the receipt that says so, all of it or nothing.
  ///
  /// Returns when it would survive a loss of power. A destination that cannot write both as one writes
  /// so that doing it again after a kill doubles nothing.
  ///
  /// The receipt must follow the one that is there at that moment (``TransferReceipt/checkFollows(_:)``),
  /// else nothing is written: another process was quicker.
  ///
  /// - Parameters:
  ///   - elements: What to write, in the source's order.
  ///   - progress: Hears of it, and may stop it by throwing as long as nothing is written.
  ///   - receipt: Makes the receipt once it is known where each element, in order, has gone.
  func write(
    _ elements: [Element], _ progress: TransferProgress.Report,
    receipt: (_ placements: [TransferPlacement]) throws -> TransferReceipt
  ) throws

  /// Reads back what was written, past every cache, and gives the places that are not there, or hold
  /// something else than their digest says.
  ///
  /// The source goes next, so what was found must survive a loss of power, also where the process that
  /// wrote it was killed before it could see to that.
  func verify(
    _ placements: [TransferPlacement], _ progress: TransferProgress.Report
  ) throws -> [TransferPlacement]

  /// Puts a receipt in the place of the one that is there, if it follows that one
  /// (``TransferReceipt/checkFollows(_:)``).
  func replace(_ receipt: TransferReceipt) throws
}

/// Where an element was put, and what must be there.
public struct TransferPlacement: Hashable, Codable, Sendable {
  /// The place within the destination: an identifier of a record, a key, an account, a relative path.
  public var place: String
  /// The SHA-256 of what was put there, in the destination's own form, hexadecimal.
  public var digest: String

  /// A placement.
  public init(place: String, digest: String) {
    self.place = place
    self.digest = digest
  }
}

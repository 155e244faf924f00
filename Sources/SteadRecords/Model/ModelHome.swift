import SteadSQLite

/// What an object's storage asks of the context that it belongs to.
///
/// The engine is the one subclass: objects refer to it by this name, so that an object can be understood without it. A
/// class rather than a protocol, since a call through it must cost no more than a virtual call.
@usableFromInline class ModelHome {
  /// Whether the home is told of each change before it is made, such as to keep the way back from it.
  @usableFromInline final var recordsUndo = false

  /// Tells whether a read of one of the objects is tracked. Asked at each read, so it is not checked that
  /// only one thread does: that holds for all of the home.
  @exclusivity(unchecked) private final var trackingProbe = TrackingProbe()
  /// The same, for a read to ask without counting a reference, which takes longer than the answer.
  @exclusivity(unchecked) private final var askedProbe: Unmanaged<TrackingProbe>

  init() { askedProbe = .passUnretained(trackingProbe) }

  final var isTracking: Bool { askedProbe._withUnsafeGuaranteedRef { $0.isTracking } }

  /// Hands over the probe, which becomes an object's registrar.
  final func takeProbe() -> TrackingProbe {
    defer {
      trackingProbe = TrackingProbe(after: trackingProbe)
      askedProbe = .passUnretained(trackingProbe)
    }
    return trackingProbe
  }

  /// Keeps the way back from a change of one property that is about to be made.
  @usableFromInline func valueWillChange(of model: any PersistentModel, at index: Int) {}

  /// Notes that a property has changed.
  func didChange(_ model: any PersistentModel, at index: Int) {}

  /// Notes that a property is read or written, of an object whose reads are traced.
  func didUse(_ model: any PersistentModel, at index: Int, isRead: Bool) {}

  /// Reads an object's row again.
  func renew(_ model: any PersistentModel) {}

  /// The destination of a to-one relationship by its row.
  func destination(_ row: Int64, of owner: any PersistentModel, _ index: Int) -> AnyObject? { nil }

  /// The destinations of a to-many relationship that were not loaded yet.
  func destinations(of owner: any PersistentModel, _ index: Int) -> [AnyObject] { [] }

  /// Keeps the other sides in step with a new destination.
  func referenceDidChange(
    of owner: any PersistentModel, _ index: Int, _ old: _Target, _ new: (any PersistentModel)?
  ) {}

  /// Keeps the other sides in step with new destinations.
  func membersDidChange(of owner: any PersistentModel, _ index: Int, _ old: _Targets) {}

  /// Does to a relationship what the program did to the array that was lent to it.
  ///
  /// - Returns: false if the relationship must be set to that array instead.
  func membersDidModify(
    of owner: any PersistentModel, _ index: Int, _ targets: UnsafeMutablePointer<_Targets>,
    _ new: [AnyObject]
  ) -> Bool { false }

  /// What a property's column has now.
  func newestColumn(of owner: any PersistentModel, _ index: Int) throws -> SQLValue? { nil }

  /// Inserts an object that came to refer to one of the context's.
  ///
  /// - Parameter old: What its relationship held before.
  func adoptOwner(_ model: any PersistentModel, of index: Int, _ old: _SlotContent) {}

  /// Keeps a link that an initializer gave to one of the context's objects until it is made.
  func keep(_ link: FirstLink) {}

  /// Forgets an object that is going away.
  func forget(_ object: Unmanaged<AnyObject>, entity: Int, row: Int64) {}

  /// A saved object's identifier; nil before the first save.
  func identifier(entity: Int, row: Int64) -> PersistentIdentifier? { nil }
}

/// The typed storage of one property.
///
/// The compiler decides which slot a property gets, by overload resolution on `_makeSlot`.
public protocol _Slot {
  associatedtype Value

  init(_ value: Value)

  /// The storage with the value that an initializer gives a property; for a relationship, the other side is updated.
  init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type)

  /// The value; a relationship may need to load it.
  func read<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value

  /// Called on the old storage once the new value is in place: a relationship updates inverses.
  func didReplace<Owner: PersistentModel>(with value: Value, _ owner: Owner, _ index: Int)

  /// The value for the program to change in place.
  func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value

  /// Makes what became of a lent value the property's.
  static func _takeBack<Owner: PersistentModel>(
    _ value: Value, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int)

  /// Takes the value from a row that has the column.
  mutating func _load(_ row: _RowReader, _ index: Int)

  /// Binds the value to a statement that has the parameter.
  func _bind(_ row: _RowWriter, _ index: Int)

  /// A relationship's content; the engine's way to it without knowing the types.
  var _content: _SlotContent { get set }

  /// Changes a to-many relationship's content in place, so that an array is not copied for it.
  mutating func _updateTargets(_ body: (inout _Targets) -> Void)
}

extension _Slot {
  @inlinable public init<Owner: PersistentModel>(
    _ value: Value, _ state: inout _ModelState, _ index: Int, _ owner: Owner.Type
  ) {
    self.init(value)
  }

  @inlinable public func didReplace<Owner: PersistentModel>(
    with value: Value, _ owner: Owner, _ index: Int
  ) {}

  @inlinable public func _lend<Owner: PersistentModel>(_ owner: Owner, _ index: Int) -> Value {
    read(owner, index)
  }

  @inlinable public static func _takeBack<Owner: PersistentModel>(
    _ value: Value, into place: UnsafeMutablePointer<Self>, _ owner: Owner, _ index: Int
  ) {
    let old = place.pointee
    place.pointee = Self(value)
    old.didReplace(with: value, owner, index)
  }

  public var _content: _SlotContent {
    get { .attribute }
    set {}
  }

  public mutating func _updateTargets(_ body: (inout _Targets) -> Void) {}
}

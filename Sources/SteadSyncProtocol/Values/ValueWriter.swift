/// Takes the parts of a value one after the other, so that what describes a record serves for its bytes and for its
/// ``SyncValue``.
///
/// Members are written in the order of their names' UTF-8: ``JSONWriter`` does not sort them.
protocol ValueWriter {
  /// Writes a whole value.
  mutating func write(_ value: SyncValue)
  /// Writes a string, as an element or as the value of a member.
  mutating func write(text: String)
  /// Writes an object, whose members `body` writes: ``name(_:)``, and then a value.
  mutating func writeObject(_ body: (inout Self) -> Void)
  /// Writes a member's name.
  mutating func name(_ name: String)
  /// Writes an array, whose elements `body` writes.
  mutating func writeArray(_ body: (inout Self) -> Void)
}

extension ValueWriter {
  /// Writes an array, each element by a body.
  mutating func writeArray<Element>(
    _ elements: [Element], _ body: (inout Self, Element) -> Void
  ) {
    writeArray { writer in
      for element in elements { body(&writer, element) }
    }
  }
}

/// Makes a ``SyncValue`` of what is written.
struct ValueBuilder: ValueWriter {
  /// The values written outside of objects.
  private(set) var elements: [SyncValue] = []
  private var members: [String: SyncValue] = [:]
  private var memberName: String?

  /// The value that a body writes.
  static func value(_ body: (inout ValueBuilder) -> Void) -> SyncValue {
    var builder = ValueBuilder()
    body(&builder)
    return builder.elements.first ?? .null
  }

  mutating func write(_ value: SyncValue) {
    if let name = memberName {
      members[name] = value
      memberName = nil
    } else {
      elements.append(value)
    }
  }

  mutating func write(text: String) { write(.string(text)) }

  mutating func name(_ name: String) { memberName = name }

  mutating func writeObject(_ body: (inout ValueBuilder) -> Void) {
    var object = ValueBuilder()
    body(&object)
    write(.object(object.members))
  }

  mutating func writeArray(_ body: (inout ValueBuilder) -> Void) {
    var array = ValueBuilder()
    body(&array)
    write(.array(array.elements))
  }
}

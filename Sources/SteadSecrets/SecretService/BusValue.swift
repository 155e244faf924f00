/// A value to be sent over the bus; it becomes a `GVariant`.
indirect enum BusValue {
  case string(String)
  case path(String)
  case boolean(Bool)
  case uint32(UInt32)
  /// The index of a descriptor among those that are sent with the message.
  case handle(Int32)
  case variant(BusValue)
  case paths([String])
  /// `a{ss}`
  case strings([String: String])
  /// `a{sv}`
  case properties([String: BusValue])
  /// A value that libsecret has created: an encrypted secret.
  case made(BusReply)

  /// Makes the `GVariant`, with a floating reference, which the container or the call takes that it is passed to.
  ///
  /// Strings end at a NUL, so they must not contain any.
  func make(_ library: SecretLibrary) -> GPointer {
    let functions = library.variant
    switch self {
    case .string(let text): return functions.newString(text)
    case .path(let path): return functions.newPath(path)
    case .boolean(let value): return functions.newBoolean(value ? 1 : 0)
    case .uint32(let value): return functions.newUInt32(value)
    case .handle(let position): return functions.newHandle(position)
    case .variant(let value): return functions.newVariant(value.make(library))
    case .made(let made): return made.value
    case .paths(let paths):
      let values = paths.map { functions.newPath($0) }
      // With the type of the elements, which GLib could not infer from an empty array.
      return functions.newArray("o", values, values.count)
    case .strings(let entries):
      let values = entries.map {
        functions.newEntry(functions.newString($0), functions.newString($1))
      }
      return functions.newArray("{ss}", values, values.count)
    case .properties(let entries):
      let values = entries.map { name, value in
        functions.newEntry(functions.newString(name), BusValue.variant(value).make(library))
      }
      return functions.newArray("{sv}", values, values.count)
    }
  }

  static func tuple(_ values: [BusValue], _ library: SecretLibrary) -> GPointer {
    let made = values.map { $0.make(library) }
    return library.variant.newTuple(made, made.count)
  }
}

// MARK: - Replies

/// A `GVariant` that was received, or a part of one; it owns a reference.
///
/// Its parts are accessed by index and type, and are nil when the type differs: a service's answer is not
/// trusted to follow the specification, and GLib would end the process for a wrong type.
final class BusReply {
  let value: GPointer
  private let library: SecretLibrary
  private var functions: GVariantFunctions { library.variant }

  /// - Parameter value: A GLib value with a reference, of which this object takes ownership.
  init(taking value: GPointer, _ library: SecretLibrary) {
    self.value = value
    self.library = library
  }

  deinit { functions.unref(value) }

  var type: String { String(cString: functions.typeString(value)) }

  /// A part of a tuple, an array or an entry.
  subscript(_ index: Int) -> BusReply? {
    guard let first = type.utf8.first, "({a".utf8.contains(first) else { return nil }
    // GLib ends the process for a child that does not exist, and for one of a value without
    // children.
    guard index < functions.count(value) else { return nil }
    return BusReply(taking: functions.child(value, index), library)
  }

  /// The value in a variant.
  var inner: BusReply? { type == "v" ? BusReply(taking: functions.inner(value), library) : nil }

  var string: String? {
    ["s", "o"].contains(type) ? String(cString: functions.string(value, nil)) : nil
  }
  var boolean: Bool? { type == "b" ? functions.boolean(value) != 0 : nil }
  var uint32: UInt32? { type == "u" ? functions.uint32(value) : nil }
  var uint64: UInt64? { type == "t" ? functions.uint64(value) : nil }

  /// The parts of an array, in order.
  var parts: [BusReply]? {
    guard type.hasPrefix("a") else { return nil }
    return (0..<functions.count(value)).map {
      BusReply(taking: functions.child(value, $0), library)
    }
  }

  /// An array of strings or of paths.
  var strings: [String]? { ["as", "ao"].contains(type) ? parts?.compactMap(\.string) : nil }

  /// Strings by their names.
  var dictionary: [String: String]? {
    guard type == "a{ss}", let parts else { return nil }
    return Dictionary(
      parts.compactMap { part in
        guard let name = part[0]?.string, let value = part[1]?.string else { return nil }
        return (name, value)
      }, uniquingKeysWith: { $1 })
  }

  /// Values of any type by their names.
  var properties: [String: BusReply]? {
    guard type == "a{sv}", let parts else { return nil }
    return Dictionary(
      parts.compactMap { part in
        guard let name = part[0]?.string, let value = part[1]?.inner else { return nil }
        return (name, value)
      }, uniquingKeysWith: { $1 })
  }
}

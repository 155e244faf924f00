/// A value to be sent over the bus.
indirect enum BusValue {
  case string(String)
  case path(String)
  case boolean(Bool)
  case uint32(UInt32)
  /// The position of a descriptor among those that are sent with the message.
  case handle(Int32)
  case variant(BusValue)
  case paths([String])
  /// `a{ss}`
  case strings([String: String])
  /// `a{sv}`
  case properties([String: BusValue])
  /// A value created elsewhere.
  case made(BusReply)

  /// Makes the GLib value, with a floating reference. Strings end at a NUL, so they must not contain any.
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

import Synchronization

// A class's stored properties, by the runtime's reflection.

/// The offsets of a class's stored properties in its objects; nil for a name that is not a stored property.
func storedPropertyOffsets(in type: AnyClass, _ names: [String]) -> [Int?] {
  var offsets: [String: Int] = [:]
  for index in 0..<storedPropertyCount(of: type) {
    var field = FieldMetadata()
    _ = childMetadata(of: type, index: index, field: &field)
    // A superclass's fields come first, so its private namesake does not count.
    if let name = field.name {
      offsets[String(cString: name)] = storedPropertyOffset(of: type, index: index)
    }
    field.free?(field.name)
  }
  return names.map { offsets[$0] }
}

/// The type of a stored property.
func storedPropertyType(of type: AnyClass, index: Int) -> Any.Type {
  var field = FieldMetadata()
  defer { field.free?(field.name) }
  return childMetadata(of: type, index: index, field: &field)
}

/// The description of a field, laid out as the runtime's reflection writes it.
///
/// The order and the sizes of the members are those of the runtime's `_FieldReflectionMetadata`.
private struct FieldMetadata {
  var name: UnsafePointer<CChar>?
  var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
  var isStrong = false
  var isVar = false
}

// The functions of the runtime behind Mirror, which itself offers names and values, but no offsets.

/// The number of stored properties, those of superclasses included.
@_silgen_name("swift_reflectionMirror_recursiveCount")
func storedPropertyCount(of type: Any.Type) -> Int

/// The type of a stored property; its name and attributes go into `field`, whose `free` releases the name.
@_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
private func childMetadata(
  of type: Any.Type, index: Int, field: UnsafeMutablePointer<FieldMetadata>
) -> Any.Type

/// The offset of a stored property in an object.
@_silgen_name("swift_reflectionMirror_recursiveChildOffset")
func storedPropertyOffset(of type: Any.Type, index: Int) -> Int

// MARK: - Optionals

/// Lets code that holds a type as `Any.Type` ask whether it is an optional, and of what.
protocol OptionalType {
  /// The type that the optional wraps.
  static var wrappedType: any Any.Type { get }
}

extension Optional: OptionalType {
  static var wrappedType: any Any.Type { Wrapped.self }
}

/// Lets code that holds a value as `Any` ask whether it is nil.
protocol OptionalValue {
  /// Whether the value is nil, of an optional of any type.
  var isNil: Bool { get }
  /// The wrapped value; nil for nil.
  var wrapped: Any? { get }
}

extension Optional: OptionalValue {
  var isNil: Bool { self == nil }
  var wrapped: Any? { self }
}

// MARK: - Answers about types

/// Remembers an answer about each type.
///
/// `find` runs outside the lock, since it may ask about other types: two threads may both find an answer, so it must
/// always be the same.
///
/// Entries stay for the life of the process: a program has a fixed number of types, but for generic
/// ones.
final class TypeCache<Answer: Sendable>: Sendable {
  private let answers = Mutex<[ObjectIdentifier: Answer]>([:])

  /// The answer about a type.
  func value(for type: ObjectIdentifier, _ find: () -> Answer) -> Answer {
    if let answer = answers.withLock({ $0[type] }) { return answer }
    let answer = find()
    answers.withLock { $0[type] = answer }
    return answer
  }
}

#if STEAD_THREAD_SANITIZER
  import SteadFiles

  /// In all files of the module.
  typealias Mutex<Value> = SanitizedMutex<Value>
#endif

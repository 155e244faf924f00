import Foundation

/// A key of an ``ObjectCache``.
// Sendable: the cache only uses its equality and hash, as `NSCache` does on any thread.
struct ObjectKey: Hashable, @unchecked Sendable {
  private enum Form {
    case foundation(NSObject)
    case hashable(AnyHashable)
    case identity(AnyObject)
  }

  private let form: Form

  init(_ object: AnyObject) {
    if let object = object as? NSObject {
      form = .foundation(object)
    } else if let object = object as? any Hashable {
      form = .hashable(AnyHashable(object))
    } else {
      form = .identity(object)
    }
  }

  static func == (left: ObjectKey, right: ObjectKey) -> Bool {
    switch (left.form, right.form) {
    case (.foundation(let left), .foundation(let right)): left === right || left.isEqual(right)
    case (.hashable(let left), .hashable(let right)): left == right
    case (.identity(let left), .identity(let right)): left === right
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch form {
    case .foundation(let object): hasher.combine(object.hash)
    case .hashable(let object): hasher.combine(object)
    case .identity(let object): hasher.combine(ObjectIdentifier(object))
    }
  }
}

/// An object in an ``ObjectCache``.
// Sendable: the cache holds it and returns it, and calls none of its methods.
struct CachedObject: @unchecked Sendable {
  let object: AnyObject
}

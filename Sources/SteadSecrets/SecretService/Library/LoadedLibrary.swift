import Foundation

/// A shared library loaded at run time, with those that it needs itself.
struct LoadedLibrary {
  private let handle: UnsafeMutableRawPointer

  /// Loads the first existing library of a list; it stays as long as the process does, since it registers
  /// types that cannot be unregistered.
  init(firstOf names: [String]) throws(Missing) {
    for name in names {
      if let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) {
        self.handle = handle
        return
      }
    }
    throw Missing(name: names.joined(separator: " or "))
  }

  /// A function by its name. `Function` must be a C function type with the actual arguments.
  func function<Function>(_ name: String) throws(Missing) -> Function {
    guard let symbol = dlsym(handle, name) else { throw Missing(name: name) }
    return unsafeBitCast(symbol, to: Function.self)
  }

  /// A library or a function that does not exist.
  struct Missing: Error, CustomStringConvertible {
    let name: String
    var description: String { "\(name) is missing" }
  }
}

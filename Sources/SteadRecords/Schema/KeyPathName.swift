/// Names of properties by key path, for messages and for paths that the metadata does not list.
enum KeyPathName {
  /// The last component of a key path as Swift prints it: `\Task.project.name` gives `name`.
  static func lastComponent(_ keyPath: AnyKeyPath) -> String {
    let text = String(describing: keyPath)
    return text.split(separator: ".").last.map(String.init) ?? text
  }

  /// A key path to no stored property, in words. Swift prints an address where the name should be.
  static func description(of keyPath: AnyKeyPath, in model: ModelMetadata) -> String {
    let name = lastComponent(keyPath)
    let isNamed = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
    let read = model.read(by: keyPath).map { ", which reads \(model.name).\($0.name)" } ?? ""
    return isNamed
      ? "\(name), which isn't a stored property"
      : "a computed or transient property of type \(type(of: keyPath).valueType)\(read)"
  }
}

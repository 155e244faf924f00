import Foundation

extension PropertyList.Fields {
  /// The dictionary of a property list file of any format.
  init(file data: Data) throws {
    guard case .dictionary(let fields) = try BinaryPropertyList.decode(data) else {
      throw PropertyListError(code: .notADictionary, message: "The property list is no dictionary.")
    }
    self = fields
  }

  func file(format: Preferences.Options.Format) throws -> Data {
    try BinaryPropertyList.encode(self)
  }
}

extension PropertyList {
  /// A value as the command line has it; nil when it is no property list.
  init?(commandLine text: String) {
    return nil
  }
}

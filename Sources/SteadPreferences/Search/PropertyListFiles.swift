import Foundation

extension PropertyList.Fields {
  /// The dictionary of a property list file of any format.
  init(file data: Data) throws {
    guard case .dictionary(let fields) = try PropertyList.parse(data) else {
      throw PropertyListError(code: .notADictionary, message: "The property list is no dictionary.")
    }
    self = fields
  }

  func file(format: Preferences.Options.Format) throws -> Data {
    switch format {
    case .binary: try BinaryPropertyList.encode(self)
    case .xml: try XMLPropertyList.encode(.dictionary(self))
    }
  }
}

extension PropertyList {
  /// A value as the command line has it; nil when it is no property list.
  init?(commandLine text: String) {
    guard let list = try? PropertyList.parse(Data(text.utf8)) else { return nil }
    self = list
  }
}

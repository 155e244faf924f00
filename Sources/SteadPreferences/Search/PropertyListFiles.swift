import Foundation

extension PropertyList {
  /// A property list file of any format.
  init(file data: Data) throws {
    self = try PropertyList.parse(data)
  }

  /// A value as the command line has it; nil when it is no property list.
  init?(commandLine text: String) {
    guard let list = try? PropertyList.parse(Data(text.utf8)) else { return nil }
    self = list
  }
}

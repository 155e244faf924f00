import Foundation

extension PropertyList {
  /// A property list file of any format.
  init(file data: Data) throws {
    self = .dictionary([:])
  }

  /// A value as the command line has it; nil when it is no property list.
  init?(commandLine text: String) {
    return nil
  }
}

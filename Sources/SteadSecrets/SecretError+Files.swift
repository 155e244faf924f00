import SteadFiles

extension SecretError {
  /// What the error of a file means for the store that has its secrets there.
  ///
  /// - Parameter purpose: What the file is to the store, such as "the vault".
  package init(file error: any Error, _ purpose: String) {
    if let already = error as? SecretError {
      self = already
      return
    }
    guard let error = error as? FileError else {
      self.init(
        code: .failed, message: "Could not use \(purpose): the system gave no reason.",
        cause: error)
      return
    }
    let (code, advice) = Self.meaning(of: error.code)
    self.init(
      code: code, message: "Could not use \(purpose). \(error)\(advice.map { " \($0)" } ?? "")",
      cause: error)
  }

  private static func meaning(of code: FileError.Code) -> (Code, advice: String?) {
    switch code {
    case .denied: (.accessDenied, "Let this user read and write it.")
    case .readOnly: (.accessDenied, "Choose a place that can be written.")
    case .noSpace: (.noSpace, "Make room on the disk, and try again.")
    case .damaged: (.corrupt, nil)
    case .newerVersion: (.newerVersion, "Update the program that reads it.")
    case .invalidName: (.invalidName, "Choose another place.")
    case .tooLarge: (.corrupt, nil)
    default: (.failed, nil)
    }
  }

  /// Runs `body`, and gives its errors the meaning that they have for a store.
  package static func mapping<Result>(
    _ purpose: String, _ body: () throws -> Result
  ) throws(SecretError) -> Result {
    do {
      return try body()
    } catch {
      throw SecretError(file: error, purpose)
    }
  }
}

import SteadFiles

extension SecretError {
  /// Runs code that fails with file errors, and throws them as errors of secrets.
  package static func files<Result>(_ body: () throws -> Result) throws(SecretError) -> Result {
    do {
      return try body()
    } catch let error as SecretError {
      throw error
    } catch {
      throw SecretError(ofFiles: error)
    }
  }

  private init(ofFiles error: any Error) {
    guard let error = error as? FileError else {
      self.init(code: .failed, message: "The system failed. See the cause.", cause: error)
      return
    }
    let (code, advice) = Self.meaning(of: error.code)
    self.init(
      code: code, message: [error.description, advice].compactMap(\.self).joined(separator: " "),
      cause: error)
  }

  private static func meaning(of code: FileError.Code) -> (Code, advice: String?) {
    switch code {
    case .denied:
      (
        .accessDenied,
        "Give this user read and write access, choose another location, or set XDG_DATA_HOME and "
          + "XDG_CONFIG_HOME, or HOME, to one."
      )
    case .readOnly:
      (
        .accessDenied,
        "Choose a writable location, or set XDG_DATA_HOME and XDG_CONFIG_HOME, or HOME, to one."
      )
    case .notAFile: (.accessDenied, "Choose another location.")
    case .noSpace: (.noSpace, "Free some space on the disk, and try again.")
    case .invalidName: (.invalidName, "Choose another location.")
    default: (.failed, nil)
    }
  }
}

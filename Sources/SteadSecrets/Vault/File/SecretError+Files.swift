import SteadFiles

extension SecretError {
  /// Runs what fails with errors of files, and throws them as errors of secrets.
  static func files<Result>(_ body: () throws -> Result) throws(SecretError) -> Result {
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
    let code: Code =
      switch error.code {
      case .noSpace: .noSpace
      case .denied, .readOnly, .notAFile: .accessDenied
      case .invalidName: .invalidName
      default: .failed
      }
    self.init(code: code, message: "\(error)", cause: error)
  }
}

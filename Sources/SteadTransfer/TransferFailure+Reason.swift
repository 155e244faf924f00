import SteadFiles
import SteadPreferences

extension TransferFailure {
  /// A failure with the reason that an error gives, as far as that is known not to tell a stored value.
  ///
  /// The error itself may tell more; it is the cause.
  init(item: String, becauseOf error: any Error) {
    self.init(item: item, reason: Self.reason(error), cause: error)
  }

  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as TransferError: error.message
    case let error as PreferencesError: reason(error)
    case let error as PropertyListError: error.message
    case let error as FileError: error.message
    case let error as DecodingError: reason(error)
    default: "It could not be converted (\(type(of: error)))."
    }
  }

  private static func reason(_ error: PreferencesError) -> String {
    guard let cause = error.cause as? DecodingError else { return error.message }
    return error.message + " " + reason(cause)
  }

  /// Foundation's own texts may quote what was read.
  private static func reason(_ error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, _): "It has no value for \(key.stringValue)."
    case .typeMismatch(let type, _): "A value in it is no \(type)."
    case .valueNotFound(let type, _): "A value of \(type) is missing in it."
    case .dataCorrupted: "A value in it does not read as what it should be."
    @unknown default: "It does not decode."
    }
  }
}

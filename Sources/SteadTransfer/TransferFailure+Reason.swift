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
    case let error as TransferError:
      error.message
    case let error as PreferencesError:
      [error.message, (error.cause as? DecodingError)?.valueFreeSentence].compactMap(\.self)
        .joined(separator: " ")
    default:
      error.valueFreeSentence ?? "It could not be converted (\(type(of: error)))."
    }
  }
}

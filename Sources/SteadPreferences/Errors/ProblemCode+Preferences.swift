@_exported public import enum SteadFiles.Stead

extension Stead.Problem.Code {
  /// A method of ``Preferences`` without `throws` failed, and no `Preferences.onError` was set. The
  /// problem's cause is a ``PreferencesError``, whose code says more.
  public static let preferencesFailed = Self("preferencesFailed")
}

extension Stead.Problem {
  init(_ error: PreferencesError) {
    self.init(
      code: .preferencesFailed, product: .preferences, subject: error.place,
      message: error.message, cause: error)
  }
}

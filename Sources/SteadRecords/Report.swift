import SteadFiles

/// Reports problems that must not stop the program to `Stead.onProblem`.
enum Report {
  /// Reports a problem with its own code.
  ///
  /// - Parameters:
  ///   - subject: What the problem concerns, such as `Author.books`.
  ///   - message: The problem and its remedy, without a stored value.
  static func problem(
    _ code: Stead.Problem.Code, subject: String = "", message: String,
    cause: (any Error)? = nil
  ) {
    Stead.report(
      Stead.Problem(
        code: code, product: .records, subject: subject, message: message, cause: cause))
  }

  /// Reports a problem without its own code.
  static func problem(_ text: String) { problem(.recordsFailed, message: text) }
}

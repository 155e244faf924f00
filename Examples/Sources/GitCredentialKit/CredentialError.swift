/// Why a request of git's cannot be answered.
public struct CredentialError: Error, Equatable, CustomStringConvertible {
  /// What is wrong, without any value that was sent.
  public let description: String

  /// git sent more than ``CredentialRequest/sizeLimit``.
  public static let tooLong = CredentialError("git sent more than a request may be long.")

  init(_ description: String) { self.description = description }
}

/// Why a request of git's cannot be answered.
public struct CredentialError: Error, Equatable, CustomStringConvertible {
  /// What is wrong, without any value that was sent.
  public let description: String

  init(_ description: String) { self.description = description }
}

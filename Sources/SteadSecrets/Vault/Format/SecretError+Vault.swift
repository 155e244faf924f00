extension SecretError {
  /// The error for a file that is not a vault as it was written.
  static func damagedVault(_ problem: String) -> SecretError {
    SecretError(
      code: .corrupt,
      message:
        "The vault's file is damaged: \(problem). It was left as it is; put a good copy of it "
        + "in its place.")
  }
}

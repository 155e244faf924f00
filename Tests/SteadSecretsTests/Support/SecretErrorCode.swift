import SteadSecrets

/// The code of the ``SecretError`` that a body throws; nil when it throws none.
func code<Result>(_ body: () throws -> Result) -> SecretError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? SecretError)?.code
  }
}

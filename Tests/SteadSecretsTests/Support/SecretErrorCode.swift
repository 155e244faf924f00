import SteadSecrets

/// The code of the ``SecretError`` that a body throws; nil when it throws none.
func errorCode<Result>(_ body: () throws -> Result) -> SecretError.Code? {
  do {
    _ = try body()
    return nil
  } catch {
    return (error as? SecretError)?.code
  }
}

/// The same of a body that waits.
func errorCode<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async -> SecretError.Code? {
  do {
    _ = try await body()
    return nil
  } catch {
    return (error as? SecretError)?.code
  }
}

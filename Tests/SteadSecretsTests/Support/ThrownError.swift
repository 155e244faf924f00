import SteadSecrets
import Testing

/// The ``SecretError`` that a body throws; nil when it throws none.
func secretError<Result>(_ body: () throws -> Result) -> SecretError? {
  do {
    _ = try body()
    return nil
  } catch {
    return checked(error)
  }
}

/// The same of a body that waits.
func secretError<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async -> SecretError? {
  do {
    _ = try await body()
    return nil
  } catch {
    return checked(error)
  }
}

/// The code of the ``SecretError`` that a body throws; nil when it throws none.
func errorCode<Result>(_ body: () throws -> Result) -> SecretError.Code? { secretError(body)?.code }

/// The same of a body that waits.
func errorCode<Result>(
  isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Result
) async -> SecretError.Code? {
  await secretError(body)?.code
}

/// The error, seen to have the details that its code promises, and no others.
private func checked(_ error: any Error) -> SecretError? {
  guard let error = error as? SecretError else { return nil }
  #expect((error.unavailability != nil) == (error.code == .unavailable))
  #expect((error.feature != nil) == (error.code == .unsupported))
  return error
}

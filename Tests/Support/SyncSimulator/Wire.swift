import SteadSyncProtocol

/// Messages as bytes and back.
enum Wire {
  /// The message as it arrives. Throws where it isn't the same to the byte.
  static func sent(_ message: Simulation.Message) throws -> Simulation.Message {
    switch message {
    case .push(let push): .push(try sent(push))
    case .pushAnswer(let push, let answer): .pushAnswer(try sent(push), try sent(answer))
    case .request(let request): .request(try sent(request))
    case .answer(let request, let answer): .answer(try sent(request), try sent(answer))
    }
  }

  /// A value as its bytes tell it.
  static func sent<Value: SyncCodable & Equatable>(_ value: Value) throws -> Value {
    let bytes = value.encoded()
    let result = try Value(encoded: bytes)
    guard result == value, result.encoded() == bytes, value.syncValue.encoded() == bytes else {
      throw Violation(16, "A message is another after its encoding: \(value)")
    }
    return result
  }

  static func bytes(_ message: Simulation.Message) -> [UInt8] {
    switch message {
    case .push(let push): push.encoded()
    case .pushAnswer(_, let answer): answer.encoded()
    case .request(let request): request.encoded()
    case .answer(_, let answer): answer.encoded()
    }
  }
}

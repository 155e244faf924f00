extension Preferences {
  public static let standard = Preferences.inMemory("standard")
  nonisolated(unsafe) static var heard: [any Error] = []
  @usableFromInline func report(_ error: any Error) { Self.heard.append(error) }
}

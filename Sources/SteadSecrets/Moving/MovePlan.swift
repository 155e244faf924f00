/// What the caller of a move wants beside the place.
struct MovePlan {
  var isReplacing: Bool
  var accepted: Set<SecretFeature>
  var progress: SecretMove.Progress

  func move(
    _ service: String, from source: any SecretStore, to destination: any SecretStore
  ) -> SecretMove {
    SecretMove(
      service: service, source: source, destination: destination, isReplacing: isReplacing,
      accepted: accepted, progress: progress)
  }
}

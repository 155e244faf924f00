/// The names that rows of one entity need: for messages, and to find transformers.
struct RowLabels: Sendable {
  let entity: String
  let properties: [String]
  /// The name of each property's transformer, nil where it has none.
  let transformers: [String?]
}

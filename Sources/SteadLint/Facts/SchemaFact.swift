/// A `VersionedSchema`.
struct SchemaFact: Codable, Sendable {
  struct Model: Codable, Sendable {
    let name: String
    let place: Place
  }

  let name: String
  let version: [Int]?
  let models: [Model]
  let place: Place
}

/// A named string constant.
struct ConstantFact: Codable, Sendable {
  let name: String
  let value: String
  let isPrivate: Bool
  let place: Place
}

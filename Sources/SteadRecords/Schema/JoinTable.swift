/// A table of pairs and its two columns, by their names, unquoted.
struct JoinTable: Hashable, Sendable {
  let name: String
  let owner: String
  let target: String
}

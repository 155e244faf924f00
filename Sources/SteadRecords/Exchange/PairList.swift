/// The pairs of rows that a many-to-many relationship, or one without an inverse, consists of.
package struct PairList: Hashable, Sendable {
  let table: String
}

/// The number that each transaction which writes objects increments, in the same transaction.
enum CommitNumber {
  static let selection = "SELECT number FROM stead_commit"
  // Not `number + 1 RETURNING number`: what returns rows keeps them in a table of its own, which takes longer
  // to make than the row of a save takes to write.
  static let assignment = "UPDATE stead_commit SET number = ?1"
}

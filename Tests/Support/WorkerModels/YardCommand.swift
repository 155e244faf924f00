/// A change of one object, by its number.
public enum YardEdit: Codable, Sendable {
  case insertYard(Int, name: String)
  case insertBarrel(Int, litres: Double?, yard: Int?)
  case insertSeal(Int)
  /// Inserts a permit, or updates the one of that number.
  case putPermit(Int, text: String)
  case setName(Int, String)
  case setNote(Int, String?)
  case setLitres(Int, Double?)
  case setYard(barrel: Int, Int?)
  case appendBarrel(yard: Int, Int)
  case addSeal(barrel: Int, Int)
  case removeSeal(barrel: Int, Int)
  case deleteYard(Int)
  case deleteBarrel(Int)
  case deleteSeal(Int)
  case deletePermit(Int)
}

/// What a ``YardWriter`` does in one go.
public enum YardCommand: Codable, Sendable {
  case open(String, keepsOldValues: Bool)
  case save(author: String?, [YardEdit])
  /// Permits with smaller numbers are deleted, as a batch.
  case deletePermits(author: String?, below: Int)
  /// Transactions up to a number are deleted.
  case deleteHistory(upTo: Int64)
}

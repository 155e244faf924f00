/// A transaction as its row has it.
struct HistoryRow {
  let store: String
  let number: Int64
  let stamp: Int64
  let author: String?
  let program: String?
  let process: Int64?
}

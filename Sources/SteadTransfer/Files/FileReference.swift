/// The place of a file and its record: `Photo/12=images/3f.jpg`, with `*` before the sign if the record came with the
/// file.
struct FileReference {
  let rows: RowReferences
  let isNew: Bool
  let path: RelativePath

  init(rows: RowReferences, isNew: Bool, path: RelativePath) {
    self.rows = rows
    self.isNew = isNew
    self.path = path
  }

  init?(_ text: String) {
    guard let sign = text.firstIndex(of: "=") else { return nil }
    var places = text[..<sign]
    isNew = places.last == "*"
    if isNew { places.removeLast() }
    guard let rows = RowReferences(String(places)),
      let path = RelativePath(String(text[text.index(after: sign)...]))
    else { return nil }
    self.rows = rows
    self.path = path
  }

  var text: String { "\(rows.text)\(isNew ? "*" : "")=\(path.text)" }
}

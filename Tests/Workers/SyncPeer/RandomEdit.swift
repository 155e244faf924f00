import SteadTestSupport

/// An edit that every version of the app can make.
struct RandomEdit {
  enum Kind: CaseIterable { case insert, text, count, move, delete, deleteFolder, rename, more }

  /// How often each kind comes, of 100.
  private static let weights: [(kind: Kind, weight: Int)] = [
    (.insert, 22), (.text, 22), (.count, 18), (.move, 12), (.delete, 12), (.deleteFolder, 1),
    (.rename, 3), (.more, 10),
  ]
  /// Few, so that several devices make folders of one name.
  private static let folderCount = 12

  let kind: Kind
  /// A value that no other edit has.
  let name: String
  /// Which of the objects that there are, from 0 to 1.
  let place: Double
  let folder: String
  let otherFolder: String

  init(name: String, using random: inout SplitMix) {
    self.name = name
    var rest = Int.random(in: 0..<100, using: &random)
    var kind = Kind.text
    for (candidate, weight) in Self.weights {
      kind = candidate
      rest -= weight
      if rest < 0 { break }
    }
    self.kind = kind
    place = Double.random(in: 0..<1, using: &random)
    folder = "folder \(Int.random(in: 0..<Self.folderCount, using: &random))"
    otherFolder = "folder \(Int.random(in: 0..<Self.folderCount, using: &random))"
  }
}

import Observation
import SwiftData

/// What grows: a list with an inverse, one with many on both sides, and one that its members know nothing of.
@Model final class Box {
  var name = ""
  @Relationship(inverse: \Piece.box) var pieces: [Piece] = []
  @Relationship(inverse: \Piece.lists) var listed: [Piece] = []
  var noted: [Piece] = []

  init() {}
}

@Model final class Piece {
  var number: Int
  var box: Box?
  var lists: [Box] = []

  init(number: Int) { self.number = number }
}

/// An object that Observation knows and nothing stores.
@Observable final class ObservableItem {
  var title: String
  var code: String
  var rank: Int
  var price: Double

  init(_ values: ItemValues) {
    title = values.title
    code = values.code
    rank = values.rank
    price = values.price
  }
}

import SwiftData
import Testing

final class Attachment {}

@Model final class TransientShape {
  @Transient var selected = false
  @Transient var attachment: Attachment? = Attachment()
  @Transient var later: Attachment?
  @Transient private(set) var constant: Int = 3
  @Transient let fixed = 5
  @Transient var computed: String { "\(name)!" }
  @Transient var pair: (Int, Int) = (1, 2)
  @Transient var action: () -> Int = { 4 }
  @Transient lazy var expensive = [1, 2, 3]
  @Transient weak var reference: Attachment?
  var both: String {
    get { name }
    set { name = newValue }
  }
  static let shared = 1
  static var kind: String { "kind" }
  var name: String

  init(name: String) { self.name = name }
}

/// Properties without a column.
@Suite struct TransientShapes {
  @Test func `only the others are stored`() throws {
    #expect(TransientShape.schemaMetadata.map(\.name) == ["name"])
    let model = TransientShape(name: "name")
    model.selected = true
    model.pair = (3, 4)
    model.both = "other"
    try reread(model) { twin in
      #expect(model.selected && model.pair == (3, 4))
      #expect(!twin.selected && twin.pair == (1, 2))
      #expect(twin.attachment != nil && twin.later == nil && twin.reference == nil)
      #expect(twin.constant == 3 && twin.fixed == 5 && twin.action() == 4)
      #expect(twin.expensive == [1, 2, 3])
      #expect(twin.computed == "other!" && twin.both == "other")
    }
  }
}

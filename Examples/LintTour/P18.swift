import SwiftData

@Model final class Order {
  var lines: [Line] = []
  init() {}
}

@Model final class Line {
  var order: Order
  init(order: Order) { self.order = order }
}

import SwiftData

@Model final class Account {
  var name = ""
  var password = ""
}

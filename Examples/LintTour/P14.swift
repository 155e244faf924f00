import Foundation
import SwiftData

@Model final class Person {
  var name = ""
  var photo: Data?
}

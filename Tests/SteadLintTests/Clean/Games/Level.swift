import Foundation

struct Level: Codable {
  var number: Int
  var layout: [[Int]]
  var passwordHint: String?

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    number = try container.decode(Int.self, forKey: .number)
    layout = try container.decodeIfPresent([[Int]].self, forKey: .layout) ?? []
    passwordHint = try container.decodeIfPresent(String.self, forKey: .passwordHint)
  }
}

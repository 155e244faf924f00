import Foundation

struct LoginState: Codable {
  var user: String
  var accessToken: String
}

func save(_ state: LoginState, to url: URL) throws {
  try JSONEncoder().encode(state).write(to: url, options: .atomic)
}

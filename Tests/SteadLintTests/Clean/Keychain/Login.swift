import Foundation

struct Login: Encodable {
  var user: String
  var password: String
}

func request(for login: Login, at url: URL) throws -> URLRequest {
  var request = URLRequest(url: url)
  request.httpMethod = "POST"
  request.httpBody = try JSONEncoder().encode(login)
  return request
}

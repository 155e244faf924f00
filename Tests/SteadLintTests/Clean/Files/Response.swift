import Foundation

struct Page: Decodable {
  var items: [String]
  var nextToken: String?
}

func items(in response: Data) -> [String] {
  let decoder = JSONDecoder()
  decoder.keyDecodingStrategy = .convertFromSnakeCase
  return (try? decoder.decode(Page.self, from: response))?.items ?? []
}

import Foundation

final class Downloads {
  private let context: Context
  init(context: Context) { self.context = context }

  struct Context {
    func save() throws {}
    func fetch(_ name: String) -> [String] { [] }
  }

  func count() -> Int {
    DispatchQueue.global().async { print("counting") }
    return context.fetch("all").count
  }
}

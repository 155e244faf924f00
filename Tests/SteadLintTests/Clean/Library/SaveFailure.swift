import Foundation

struct SaveFailure: Identifiable {
  let id = UUID()
  let message: String

  init(_ error: any Error) { message = error.localizedDescription }
}

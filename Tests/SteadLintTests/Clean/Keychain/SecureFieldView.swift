import SwiftUI

struct PasswordField: View {
  @State private var password = ""
  let store: SecretStore
  let onFailure: (any Error) -> Void

  var body: some View {
    SecureField("Password", text: $password).onSubmit {
      do {
        try store.set(Data(password.utf8), for: "password")
      } catch {
        onFailure(error)
      }
    }
  }
}

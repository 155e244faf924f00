import SteadPreferences
import SteadSecrets
import SteadTransfer

func moveToken() throws {
  let secrets = try Secrets(service: "org.example.Notes")
  let transfer = Transfer(
    "token", from: .preference("access_token", of: String.self), to: try .secrets(secrets)
  ) { token in SecretEntry(account: "token", secret: token) }
  try transfer.run()
}

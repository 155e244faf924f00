import SteadSecrets

func keepToken(_ token: String) throws {
  let secrets = try Secrets(service: "org.example.Notes")
  try secrets.set(token, for: "token")
}

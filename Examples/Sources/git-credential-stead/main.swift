import Foundation
import GitCredentialKit
import SteadSecrets

// git-credential-stead: keeps git's passwords in the Secret Service or in an encrypted file.
//
// git goes on to its next helper, and then asks, whatever this program's exit status is. So all
// that fails is told on the standard error, in words without any secret.

func say(_ text: String) {
  FileHandle.standardError.write(Data("git-credential-stead: \(text)\n".utf8))
}

extension HelperOptions {
  /// Where the credentials are.
  func secrets() throws(SecretError) -> Secrets {
    try Secrets(service: CredentialPlace.service, in: location)
  }

  private var location: SecretStoreLocation {
    switch store {
    case .automatic: .automatic
    case .secretService: .secretService()
    case .vault:
      .vault(
        at: vault.map { URL(filePath: $0, directoryHint: .notDirectory) },
        key: keyFile.map { .keyFile(URL(filePath: $0, directoryHint: .notDirectory)) })
    }
  }
}

func readRequest() throws -> CredentialRequest {
  let limit = CredentialRequest.sizeLimit
  let input = try FileHandle.standardInput.read(upToCount: limit + 1) ?? Data()
  guard input.count <= limit else { throw CredentialError.tooLong }
  return try CredentialRequest(SecretBytes(input))
}

/// Tells which store has the passwords, and why.
func describeBackend(_ options: HelperOptions) throws {
  let store = try options.secrets().storeDescription
  let location = store.location.map { " \($0)" } ?? ""
  print("\(store.kind)\(location): \(store.reason)")
}

func run(_ options: HelperOptions) throws {
  let helper = CredentialHelper { () throws(SecretError) in try options.secrets() }
  switch options.operation {
  case .get:
    guard let reply = try helper.get(readRequest()) else { return }
    try reply.withBytes { bytes in
      try FileHandle.standardOutput.write(contentsOf: Data(bytes))
    }
  case .store: try helper.store(readRequest())
  case .erase: try helper.erase(readRequest())
  case .backend: try describeBackend(options)
  case .other: break
  }
}

do {
  try run(HelperOptions(Array(CommandLine.arguments.dropFirst())))
} catch let error as SecretError {
  say("\(error)")
  exit(1)
} catch let error as CredentialError {
  say("\(error)\n\(HelperOptions.usage)")
  exit(64)
} catch {
  say("\(error)")
  exit(1)
}

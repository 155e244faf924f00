import Foundation
import GitCredentialKit
import SteadSecrets

// git-credential-stead: keeps git's passwords in the Secret Service or in an encrypted file.
print(HelperOptions.usage)
